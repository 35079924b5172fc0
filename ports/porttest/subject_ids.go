package porttest

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// misfits returns ids that do not fit the subject's key, which is (tenant text, number bigint).
func misfits(t testing.TB) map[string]domain.SubjectID {
	t.Helper()
	return map[string]domain.SubjectID{
		"no id": {}, "half a key": subjectOf(t, "acme"), "half a key, a number": subjectOf(t, "7"),
		"one element too many": subjectOf(t, "acme", "7", "7"), "elements swapped": subjectOf(t, "7", "acme"),
		"leading zeros": subjectOf(t, "acme", "007"),
		"a sign":        subjectOf(t, "acme", "+7"), "a space": subjectOf(t, "acme", "7 "),
		"a fraction": subjectOf(t, "acme", "7.0"), "an exponent": subjectOf(t, "acme", "7e0"),
		"a number too large": subjectOf(t, "acme", "9223372036854775808"), "other digits": subjectOf(t, "acme", "٧"),
		"a condition": subjectOf(t, "acme", "7 OR 1=1"),
	}
}

// methodCalls returns a call of each method of a SubjectStore, with the name of the method as the key.
func methodCalls(t testing.TB) map[string]func(context.Context, ports.SubjectStore, domain.SubjectID) error {
	t.Helper()
	return map[string]func(context.Context, ports.SubjectStore, domain.SubjectID) error{
		"Lock": func(ctx context.Context, subjects ports.SubjectStore, id domain.SubjectID) error {
			return errOf(subjects.Lock(ctx, id, noon))
		},
		"State": func(ctx context.Context, subjects ports.SubjectStore, id domain.SubjectID) error {
			return errOf(subjects.State(ctx, id))
		},
		"Register": func(ctx context.Context, subjects ports.SubjectStore, id domain.SubjectID) error {
			return subjects.Register(ctx, id, noon)
		},
		"Apply": func(ctx context.Context, subjects ports.SubjectStore, id domain.SubjectID) error {
			return errOf(subjects.Apply(ctx, id, erasurePlan(t)))
		},
		"Rectify": func(ctx context.Context, subjects ports.SubjectStore, id domain.SubjectID) error {
			return errOf(subjects.Rectify(ctx, id, rectifies("orders", "note", "corrected")))
		},
		"Export": func(ctx context.Context, subjects ports.SubjectStore, id domain.SubjectID) error {
			return subjects.Export(ctx, id, func(domain.ExportRecord) error { return nil })
		},
		"Holdings": func(ctx context.Context, subjects ports.SubjectStore, id domain.SubjectID) error {
			return errOf(subjects.Holdings(ctx, id))
		},
	}
}

func subjectIDsThatDoNotFitAreRefused(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	for what, id := range misfits(t) {
		for method, call := range methodCalls(t) {
			err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error { return call(ctx, subjects, id) })
			isError(t, method+" of "+what, err, domain.ErrSubject)
		}
	}
	expectUnchanged(t, "after ids that were refused", s.content(t), before)
}

func subjectIDsAreCheckedBeforeAnyStatement(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	requireHook(t, s.Statements != nil, "Statements")
	for what, id := range misfits(t) {
		for method, call := range methodCalls(t) {
			before := s.Statements()
			err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error { return call(ctx, subjects, id) })
			isError(t, method+" of "+what, err, domain.ErrSubject)
			sent := s.Statements() - before
			assert(t, sent <= 0, "%s of %s sent %d statements", method, what, sent)
		}
	}
}

func subjectStatementsDoNotDependOnRows(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	requireHook(t, s.Statements != nil, "Statements")
	few, many := customer{"few", 1, 20_000}, customer{"many", 1, 21_000}
	s.seed(t, few, 1)
	s.seed(t, many, 200)
	s.stateOf(t, few) // the first call of a store may send more statements to read the catalog of the database
	total := 0
	// The call of Apply comes last, because it erases the rows that the other methods need.
	for _, method := range []string{"Lock", "Rectify", "Export", "Holdings", "Apply"} {
		sent := func(who customer) int {
			before := s.Statements()
			s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
				return methodCalls(t)[method](ctx, subjects, who.id(t))
			})
			return s.Statements() - before
		}
		of1, of200 := sent(few), sent(many)
		assert(t, of1 == of200, "%s sends %d statements for one row in each table, and %d for 200", method, of1, of200)
		total += of1
	}
	assert(t, total != 0, "Store.Statements counts nothing")
}
