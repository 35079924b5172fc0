package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/ports"
)

// erasurePlan returns the steps for the tables in which each row belongs to one person.
func erasurePlan(t testing.TB) []datamap.Step {
	t.Helper()
	return slices.DeleteFunc(wholePlan(t), func(step datamap.Step) bool { return step.Via != "" })
}

// wholePlan returns the steps for all tables of the shop.
func wholePlan(t testing.TB) []datamap.Step {
	t.Helper()
	plan, err := erasure.Planner{}.Plan(DataMap(), nil)
	must(t, err == nil, "the plan of the shop cannot be built: %v", err)
	return plan.Local()
}

func deleteStep(t testing.TB, table string) datamap.Step {
	t.Helper()
	return stepOf(t, table, domain.StrategyDelete)
}

func anonymizeStep(t testing.TB, table string) datamap.Step {
	t.Helper()
	return stepOf(t, table, domain.StrategyAnonymize)
}

func retainStep(t testing.TB, table string) datamap.Step {
	t.Helper()
	return stepOf(t, table, domain.StrategyRetain)
}

func stepOf(t testing.TB, table string, strategy domain.Strategy) datamap.Step {
	t.Helper()
	plan := erasurePlan(t)
	i := slices.IndexFunc(plan, func(s datamap.Step) bool { return s.Target == table && s.Strategy == strategy })
	must(t, i >= 0, "the plan has no step to %s %s", strategy, table)
	return plan[i]
}

// do calls fn with the SubjectStore of a separate session, and fails the case if the session does not commit.
func (s shopUnderTest) do(t testing.TB, fn func(context.Context, ports.SubjectStore) error) {
	t.Helper()
	do(t, s.Store, func(ctx context.Context, session ports.Session) error { return fn(ctx, session.Subjects()) })
}

func (s shopUnderTest) try(t testing.TB, fn func(context.Context, ports.SubjectStore) error) error {
	return try(t, s.Store, func(ctx context.Context, session ports.Session) error { return fn(ctx, session.Subjects()) })
}

// apply applies steps and returns the number of affected rows of each step.
func (s shopUnderTest) apply(t testing.TB, who customer, steps ...datamap.Step) (rows []int64) {
	t.Helper()
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) (err error) {
		rows, err = rowsOf(subjects.Apply(ctx, who.id(t), steps))
		return err
	})
	must(t, len(rows) == len(steps), "%d steps have %d counts", len(steps), len(rows))
	return rows
}

func subjectRowsAreDeleted(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	rows := s.apply(t, zoe, deleteStep(t, "addresses"))
	assert(t, rows[0] == 3, "%d rows were deleted, want 3", rows[0])
	left := s.content(t).of(zoe)["addresses"]
	assert(t, len(left) == 0, "%d rows are left", len(left))
}

func subjectRepliesAreDeletedInOneStep(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	// Apply must also delete these messages: a reply to itself, a reply to a message of another person, and a reply whose
	// id is lower than the id of the answered message.
	s.Insert(t, "messages", zoe.row(zoe.ids+10, Row{"reply_to": zoe.ids + 10}))
	s.Insert(t, "messages", zoe.row(zoe.ids+11, Row{"reply_to": others[0].ids}))
	s.Insert(t, "messages", zoe.row(zoe.ids+20, Row{"reply_to": nil}))
	s.Insert(t, "messages", zoe.row(zoe.ids+12, Row{"reply_to": zoe.ids + 20}))
	before := s.content(t)
	rows := s.apply(t, zoe, deleteStep(t, "messages"))
	assert(t, rows[0] == 7, "%d messages were deleted, want 7", rows[0])
	after := s.content(t)
	left := after.of(zoe)["messages"]
	assert(t, len(left) == 0, "%d messages are left", len(left))
	expectUnchanged(t, "what is not the subject's", after.without(zoe), before.without(zoe))
}

func subjectRowsThatOthersReferToAreRefused(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	s.Insert(t, "messages", others[0].row(others[0].ids+10, Row{"reply_to": zoe.ids + 1}))
	before := s.content(t)
	var rows []int64
	err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) (err error) {
		rows, err = rowsOf(subjects.Apply(ctx, zoe.id(t), []datamap.Step{
			deleteStep(t, "addresses"), anonymizeStep(t, "orders"), deleteStep(t, "messages"), anonymizeStep(t, "people"),
		}))
		return err
	})
	isError(t, "to delete a message that another person replied to", err, domain.ErrConflict)
	want := []int64{3, 3} // unless the store does not know which step failed
	assert(t, slices.Equal(rows, want) || len(rows) == 4, "the steps before it count %v, want %v", rows, want)
	expectUnchanged(t, "after a conflict", s.content(t), before)
}

func subjectColumnsAreAnonymized(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	for _, table := range []string{"people", "orders", "invoices"} {
		step := anonymizeStep(t, table)
		rows, want := s.apply(t, zoe, step)[0], int64(len(before.of(zoe)[table]))
		assert(t, rows == want, "%d rows of %s were anonymized, want %d", rows, table, want)
		s.expectAnonymized(t, before, step.Target, step.Columns)
	}
	// The step has only one of the columns that the plan anonymizes. Apply must not overwrite the other columns.
	one := datamap.Step{Target: "people", Strategy: domain.StrategyAnonymize, Columns: []string{"email"}}
	other := shopUnderTest{h.open(t)}
	other.seed(t, zoe, 1)
	before = other.content(t)
	other.apply(t, zoe, one)
	other.expectAnonymized(t, before, "people", one.Columns)
}

// expectAnonymized checks that the store has overwritten these columns in zoe's rows of the table, and no other
// columns.
func (s shopUnderTest) expectAnonymized(t testing.TB, before content, table string, columns []string) {
	t.Helper()
	rows, was := s.content(t).of(zoe)[table], before.of(zoe)[table]
	must(t, len(rows) == len(was), "%d rows of %s are left, want %d", len(rows), table, len(was))
	for i, row := range rows {
		for column := range was[i] {
			overwritten := !same(row[column], was[i][column])
			want := slices.Contains(columns, column)
			assert(t, overwritten == want, "%s.%s was overwritten: %v, want %v", table, column, overwritten, want)
		}
	}
}

func subjectRowsAreFoundOverTwoHops(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	step := anonymizeStep(t, "order_lines")
	rows := s.apply(t, zoe, step)[0]
	assert(t, rows == 6, "%d lines of orders were anonymized, want 6", rows)
	s.expectAnonymized(t, before, step.Target, step.Columns)
	expectUnchanged(t, "what is not the subject's", s.content(t).without(zoe), before.without(zoe))
}

func subjectRetainedRowsAreCounted(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	for what, step := range map[string]datamap.Step{
		"of columns": retainStep(t, "invoices"), "of all columns": {Target: "invoices", Strategy: domain.StrategyRetain},
	} {
		rows := s.apply(t, zoe, step)[0]
		assert(t, rows == 3, "by a step %s, %d rows are counted as retained, want 3", what, rows)
	}
	expectUnchanged(t, "after a step that retains", s.content(t), before)
}

func subjectStepsAreRefused(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	for what, step := range map[string]datamap.Step{
		"an external step":              {Target: "people", Strategy: domain.StrategyDelete, External: true},
		"a resolver's step":             {Target: "desk", Strategy: domain.StrategyDelete, External: true},
		"a step about an unknown table": {Target: "habeas_outbox", Strategy: domain.StrategyDelete},
	} {
		var rows []int64
		err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) (err error) {
			steps := []datamap.Step{deleteStep(t, "addresses"), step, deleteStep(t, "messages")}
			rows, err = rowsOf(subjects.Apply(ctx, zoe.id(t), steps))
			return err
		})
		isError(t, what, err, domain.ErrManifest)
		assert(t, len(rows) <= 1, "%s: %d steps are counted, want at most the step before it", what, len(rows))
	}
	expectUnchanged(t, "after steps that were refused", s.content(t), before)
}

// judgedAt returns the step with the given instant in Step.At. A retention period is over for this step if it has ended
// at this instant.
func judgedAt(step datamap.Step, instant time.Time) datamap.Step {
	step.At = instant
	return step
}

// The address of an invoice is retained for ten years. The phone is anonymized immediately.
func subjectCellsWithExpiredRetentionAreAnonymized(t testing.TB, h StoreHarness) {
	after := issued.AddDate(10, 0, 1) // issued is on 29 February, which does not exist ten years later
	for name, test := range map[string]struct {
		at       time.Time
		columns  []string // columns of the anonymize step except address
		changed  []string
		rows     int64 // the number of anonymized rows
		retained int64
	}{
		"the duty goes on":           {after.AddDate(0, 0, -2), []string{"phone"}, []string{"phone"}, 3, 3},
		"the duty is over":           {after.AddDate(0, 0, 1), []string{"phone"}, []string{"phone", "address"}, 3, 0},
		"nothing else, it goes on":   {after.AddDate(0, 0, -2), nil, nil, 0, 3},
		"nothing else, it is over":   {after.AddDate(0, 0, 1), nil, []string{"address"}, 3, 0},
		"no instant to judge it by":  {time.Time{}, []string{"phone"}, []string{"phone"}, 3, 3},
		"it is over for a long time": {after.AddDate(90, 0, 0), []string{"phone"}, []string{"phone", "address"}, 3, 0},
	} {
		s := h.shop(t)
		s.Insert(t, "invoices", zoe.row(zoe.ids+50, Row{"address": "a street", "phone": "1", "issued_at": nil}))
		before := s.content(t)
		anonymize := datamap.Step{
			Target: "invoices", Strategy: domain.StrategyAnonymize,
			Columns: test.columns, Expired: []string{"address"}, At: test.at,
		}
		rows := s.apply(t, zoe, anonymize, judgedAt(retainStep(t, "invoices"), test.at))
		all := int64(0) // the row without issued_at: its duty never ends, so only its other columns are anonymized
		if test.columns != nil {
			all = 1
		}
		assert(t, rows[0] == test.rows+all && rows[1] == test.retained+1,
			"%s: %d rows were anonymized and %d retained, want %d and %d",
			name, rows[0], rows[1], test.rows+all, test.retained+1)
		was := before.of(zoe)["invoices"]
		for i, row := range s.content(t).of(zoe)["invoices"] {
			for _, column := range []string{"address", "phone", "issued_at"} {
				want := row["issued_at"] != nil && slices.Contains(test.changed, column) || column == "phone" && test.columns != nil
				got := !same(row[column], was[i][column])
				assert(t, got == want, "%s: invoices.%s was overwritten: %v, want %v", name, column, got, want)
			}
		}
	}
}

// The store must refuse two steps that affect the same rows, because the result would depend on their order. It must
// also refuse a step without a valid column.
func subjectStepsOnOneRowAreRefused(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	people := anonymizeStep(t, "people")
	for what, steps := range map[string][]datamap.Step{
		"two that anonymize a table": {
			judgedAt(people, noon), {Target: "people", Strategy: domain.StrategyAnonymize, Columns: []string{"email"}},
		},
		"one that anonymizes deleted": {
			deleteStep(t, "addresses"),
			{Target: "addresses", Strategy: domain.StrategyAnonymize, Columns: []string{"street"}},
		},
		"one that deletes retained": {
			retainStep(t, "invoices"), {Target: "invoices", Strategy: domain.StrategyDelete},
		},
		"one that retains deleted": {
			deleteStep(t, "messages"), {Target: "messages", Strategy: domain.StrategyRetain, Columns: []string{"body"}},
		},
		"no column":             {{Target: "people", Strategy: domain.StrategyAnonymize}},
		"an unknown column":     {{Target: "people", Strategy: domain.StrategyAnonymize, Columns: []string{"shoe_size"}}},
		"a column that is kept": {{Target: "people", Strategy: domain.StrategyAnonymize, Expired: []string{"email"}}},
	} {
		err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			return errOf(subjects.Apply(ctx, zoe.id(t), steps))
		})
		isError(t, what, err, domain.ErrManifest)
	}
	expectUnchanged(t, "after steps that were refused", s.content(t), before)
}

// The first call of Apply succeeds, and the second one is refused. The session must not commit the changes of the first
// call, even if the caller ignores the error of the second call.
func subjectRefusedStepsCannotBeCommitted(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		if _, err := subjects.Apply(ctx, zoe.id(t), []datamap.Step{deleteStep(t, "addresses")}); err != nil {
			return err
		}
		external := []datamap.Step{{Target: "desk", Strategy: domain.StrategyDelete, External: true}}
		_, _ = subjects.Apply(ctx, zoe.id(t), external)
		return nil
	})
	isError(t, "a session whose steps were refused", err, domain.ErrManifest)
	expectUnchanged(t, "after a session whose steps were refused", s.content(t), before)
}
