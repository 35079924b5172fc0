package porttest

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

func readInstallation(ctx context.Context, s ports.Session) (datamap.Installation, error) {
	return s.Installation().Read(ctx)
}

func installationOf(t testing.TB, s side) datamap.Installation {
	t.Helper()
	return read(t, s.Store, readInstallation)
}

// expectForeign fails unless err is the error of a data map of the given subject table on the tables of another one.
func expectForeign(t testing.TB, what string, err error, recorded, given datamap.DataMap) {
	t.Helper()
	var foreign *datamap.ForeignMapError
	must(t, errors.As(err, &foreign) && errors.Is(err, domain.ErrConfiguration),
		"%s: the error is %v, want a datamap.ForeignMapError", what, err)
	names := [2]string{datamap.InstallationOf(recorded).Key(), datamap.InstallationOf(given).Key()}
	assert(t, foreign.Recorded == names[0] && foreign.Given == names[1], "%s: the error names %q and %q, want %q", what,
		foreign.Recorded, foreign.Given, names)
}

// uses are ways to use a session, each as its first use.
func uses(t testing.TB) map[string]sessionUse {
	t.Helper()
	id := subjectOf(t, present)
	return map[string]sessionUse{
		"a read":  func(ctx context.Context, s ports.Session) error { return errOf(s.Consents().InForce(ctx, id)) },
		"a trail": func(ctx context.Context, s ports.Session) error { return errOf(s.Audit().Trail(ctx, id)) },
		"a consent": func(ctx context.Context, s ports.Session) error {
			return s.Consents().Append(ctx, grant(id, "news", 10))
		},
		"an erasure": func(ctx context.Context, s ports.Session) error { return errOf(s.Subjects().Lock(ctx, id, erasedAt)) },
		"an export": func(ctx context.Context, s ports.Session) error {
			return s.Subjects().Export(ctx, id, func(domain.ExportRecord) error { return errUndo })
		},
		"an event": func(ctx context.Context, s ports.Session) error {
			return s.Audit().Append(ctx, event("event-4", id))
		},
		"evidence": func(ctx context.Context, s ports.Session) error {
			return s.Audit().AppendEvidence(ctx, event("event-5", id))
		},
		"a claim": func(ctx context.Context, s ports.Session) error {
			return errOf(s.Outbox().Claim(ctx, query(noon.Add(sinceMorning), upTo(10)...)))
		},
		"an entry": func(ctx context.Context, s ports.Session) error {
			return s.Outbox().Enqueue(ctx, toErase(t, "foreign", id, 0))
		},
		"a mark": func(ctx context.Context, s ports.Session) error {
			return errOf(s.Erased().Advance(ctx, "job", 1, 9))
		},
		"the installation": func(ctx context.Context, s ports.Session) error { return errOf(readInstallation(ctx, s)) },
	}
}

type sessionUse = func(context.Context, ports.Session) error

func mapOfAnotherSubjectIsRefused(t testing.TB, h MapsHarness) {
	maps := h.open(t)
	customers := h.sideOf(t, maps, CustomerMap(), "")
	customers.fill(t)
	before := customers.state(t)
	for what, use := range uses(t) {
		foreign := h.sideOf(t, maps, EmployeeMap(), "")
		expectForeign(t, what, try(t, foreign.Store, use), CustomerMap(), EmployeeMap())
		expectForeign(t, what+" again", try(t, foreign.Store, use), CustomerMap(), EmployeeMap())
		ctx, cancel := context.WithTimeout(t.Context(), foreign.patience)
		err := foreign.Sessions.Rehearse(ctx, use)
		cancel()
		expectForeign(t, what+" in a rehearsal", err, CustomerMap(), EmployeeMap())
	}
	// The evidence of an attempt is written in a session of its own, after a rollback for another reason.
	foreign := h.sideOf(t, maps, EmployeeMap(), "")
	err := try(t, foreign.Store, func(ctx context.Context, s ports.Session) error {
		return errors.Join(s.Audit().AppendEvidence(ctx, event("event-6", subjectOf(t, present))), errUndo)
	})
	must(t, err != nil, "a session of a foreign data map that fails has no error")
	_, err = finderOf(t, foreign.Store).Find(t.Context(), []string{soughtInMaps}, nil)
	expectForeign(t, "a search", err, CustomerMap(), EmployeeMap())
	if different := differing(before, customers.state(t)); len(different) > 0 {
		t.Errorf("a refused data map has changed: %v", different)
	}
}

func mapIsRecordedByTheFirstCommit(t testing.TB, h MapsHarness) {
	maps := h.open(t)
	id := subjectOf(t, present)
	consent := func(ctx context.Context, s ports.Session) error {
		return s.Consents().Append(ctx, grant(id, "news", 0))
	}
	recorded := func() datamap.Installation {
		t.Helper()
		return installationOf(t, h.sideOf(t, maps, CustomerMap(), ""))
	}
	for what, use := range map[string]func(side){
		"a read": func(s side) {
			do(t, s.Store, func(ctx context.Context, s ports.Session) error { return errOf(s.Consents().InForce(ctx, id)) })
		},
		"an unused session": func(s side) {
			do(t, s.Store, func(context.Context, ports.Session) error { return nil })
		},
		"a rollback": func(s side) {
			undo(t, s.Store, func(ctx context.Context, s ports.Session) error {
				return errors.Join(consent(ctx, s), errOf(s.Consents().InForce(ctx, id)))
			})
		},
		"a rehearsal": func(s side) {
			ctx, cancel := context.WithTimeout(t.Context(), s.patience)
			defer cancel()
			err := s.Sessions.Rehearse(ctx, consent)
			must(t, err == nil, "the rehearsal failed: %v", err)
		},
	} {
		use(h.sideOf(t, maps, CustomerMap(), ""))
		found := recorded()
		assert(t, found.SubjectTable == "" && len(found.KeyColumns) == 0, "%s has recorded %s", what, found.Key())
	}
	do(t, h.sideOf(t, maps, CustomerMap(), "").Store, consent)
	found, want := recorded(), datamap.InstallationOf(CustomerMap())
	same := found.SubjectTable == want.SubjectTable && reflect.DeepEqual(found.KeyColumns, want.KeyColumns)
	assert(t, same && found.ID != "", "a commit has recorded %q, want %q", found.Key(), want.Key())
	expectForeign(t, "after a commit", try(t, h.sideOf(t, maps, EmployeeMap(), "").Store, consent), CustomerMap(),
		EmployeeMap())
}

func mapCanBeAccepted(t testing.TB, h MapsHarness) {
	maps := h.open(t)
	id := subjectOf(t, present)
	consent := func(ctx context.Context, s ports.Session) error {
		return s.Consents().Append(ctx, grant(id, "news", 0))
	}
	do(t, h.sideOf(t, maps, CustomerMap(), "").Store, consent)
	accept := func(ctx context.Context, s ports.Session) (datamap.Installation, error) {
		return s.Installation().Accept(ctx)
	}
	undo(t, h.sideOf(t, maps, EmployeeMap(), "").Store, func(ctx context.Context, s ports.Session) error {
		return errOf(accept(ctx, s))
	})
	do(t, h.sideOf(t, maps, CustomerMap(), "").Store, consent) // a rollback has no effect
	before := read(t, h.sideOf(t, maps, EmployeeMap(), "").Store, accept)
	assert(t, before.SubjectTable == CustomerMap().SubjectTable().Name, "before Accept, the subject's table was %q",
		before.SubjectTable)
	do(t, h.sideOf(t, maps, EmployeeMap(), "").Store, consent)
	expectForeign(t, "after Accept", try(t, h.sideOf(t, maps, CustomerMap(), "").Store, consent), EmployeeMap(),
		CustomerMap())
}
