package porttest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// verificationPromises are the promises of ErasedStore.LeftOver.
var verificationPromises = []promise.Promise[StoreHarness]{
	that(subjectVerificationFindsNothingAfterAPlan, "LeftOver reports no data of the subject after a complete plan."),
	that(subjectVerificationFindsSkippedSteps, "LeftOver reports exactly the columns of a step that was not carried out."),
	that(subjectVerificationFindsEachColumn,
		"LeftOver reports each column that was not overwritten, even if an export leaves the column out."),
	that(subjectVerificationFindsExpiredRetention,
		"LeftOver reports a retained cell whose retention period had ended at the erasure."),
	that(subjectVerificationFindsRowsByTheKey,
		"LeftOver finds rows by the key of the subject, even if the subject's own row is gone."),
	that(subjectVerificationPassesEmptyCells, "LeftOver does not report NULL or the empty text."),
	that(subjectVerificationPassesNewRows,
		"LeftOver does not report rows whose creation column is later than the erasure."),
	that(subjectVerificationCountsTheSubjectsRow,
		"LeftOver reports the subject's own row even if its creation column is later than the erasure."),
	that(subjectVerificationOnlyReads, "LeftOver checks ids and steps, and does not count as a write."),
}

// verify calls fn with the ports.ErasedStore of a separate session.
func (s shopUnderTest) verify(t testing.TB, fn func(context.Context, ports.ErasedStore) error) {
	t.Helper()
	do(t, s.Store, func(ctx context.Context, session ports.Session) error { return fn(ctx, session.Erased()) })
}

// expectLeftOver checks the result of LeftOver for an erasure at noon.
func (s shopUnderTest) expectLeftOver(
	t testing.TB, what string, id domain.SubjectID, steps []datamap.Step, want ...domain.Leftover,
) {
	t.Helper()
	s.verify(t, func(ctx context.Context, erased ports.ErasedStore) error {
		found, err := erased.LeftOver(ctx, id, steps, noon)
		assert(t, err != nil || slices.Equal(found, want), "%s: left over are %v, want %v", what, found, want)
		return err
	})
}

// shops opens two shops. In the first shop, each row belongs to one person. In the second shop, rows belong to several
// people.
func (h StoreHarness) shops(t testing.TB) []shopUnderTest {
	t.Helper()
	return []shopUnderTest{h.shop(t), h.sharedShop(t)}
}

// planAt returns the steps of the plan for all tables at an instant.
func planAt(t testing.TB, at time.Time) []datamap.Step {
	t.Helper()
	return plan.LocalAt(datamap.Plan{Steps: wholePlan(t)}, at)
}

func subjectVerificationFindsNothingAfterAPlan(t testing.TB, h StoreHarness) {
	for _, s := range h.shops(t) {
		for _, at := range []time.Time{noon, afterTheDuty} {
			s.apply(t, zoe, planAt(t, at)...)
			s.expectLeftOver(t, "after a plan", zoe.id(t), planAt(t, at))
		}
	}
}

// applyThenVerify locks zoe, passes the first list of steps to Apply, and passes the second list to LeftOver. It
// returns the results of both calls and rolls the session back.
func (s shopUnderTest) applyThenVerify(
	t testing.TB, done, expected []datamap.Step,
) (rows []int64, found []domain.Leftover) {
	t.Helper()
	undo(t, s.Store, func(ctx context.Context, session ports.Session) (err error) {
		subjects := session.Subjects()
		if _, err := subjects.Lock(ctx, zoe.id(t), noon); err != nil {
			return err
		}
		if rows, err = rowsOf(subjects.Apply(ctx, zoe.id(t), done)); err != nil {
			return err
		}
		found, err = session.Erased().LeftOver(ctx, zoe.id(t), expected, noon)
		return err
	})
	return rows, found
}

// For each step of the plan, the case applies the plan without this step. LeftOver must then find the rows that this
// step would have changed. If rows can belong to several people, LeftOver may find fewer rows, because another step may
// have erased a row or cleared its reference to zoe.
func subjectVerificationFindsSkippedSteps(t testing.TB, h StoreHarness) {
	for _, s := range h.shops(t) {
		planned := wholePlan(t)
		all, found := s.applyThenVerify(t, planned, planned)
		assert(t, len(found) == 0, "after a plan, in its session: left over are %v", found)
		for i, step := range planned {
			if all[i] == 0 || step.Strategy == domain.StrategyRetain || step.Target == "wraps" && step.Via == "Receiver" {
				continue
			}
			what := fmt.Sprint("without a step to ", step.Strategy, " ", step.Target, " ", step.Via)
			_, found := s.applyThenVerify(t, slices.Delete(slices.Clone(planned), i, i+1), planned)
			columns := slices.Concat(step.Columns, step.ClearedColumns)
			if step.Strategy == domain.StrategyDelete {
				columns = []string{""}
			}
			assert(t, len(found) == len(columns), "%s: left over are %v, want the columns %q", what, found, columns)
			for _, left := range found {
				right := left.Table == step.Target && slices.Contains(columns, left.Column)
				exact := left.Rows == all[i] || step.Via != "" && left.Rows > 0 && left.Rows < all[i]
				assert(t, right && exact, "%s: left over are %v, of %d rows", what, left, all[i])
			}
		}
	}
}

func subjectVerificationFindsEachColumn(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	planned, before := erasurePlan(t), s.content(t).of(zoe)
	for n, more := 0, true; more; n++ {
		more = false
		var done []datamap.Step
		var want []domain.Leftover
		for _, step := range planned {
			if step.Strategy == domain.StrategyAnonymize && n < len(step.Columns) {
				more = true
				rows := int64(len(before[step.Target]))
				want = append(want, domain.Leftover{Table: step.Target, Column: step.Columns[n], Rows: rows})
				step.Columns = slices.Delete(slices.Clone(step.Columns), n, n+1)
			}
			if step.Strategy != domain.StrategyAnonymize || len(step.Columns) > 0 {
				done = append(done, step)
			}
		}
		_, found := s.applyThenVerify(t, done, planned)
		assert(t, slices.Equal(found, want), "left over are %v, want %v", found, want)
	}
}

func subjectVerificationFindsExpiredRetention(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	s.Insert(t, "invoices", zoe.row(zoe.ids+50, Row{"address": "a street", "issued_at": nil}))
	s.apply(t, zoe, planAt(t, noon)...)
	s.expectLeftOver(t, "while the duty goes on", zoe.id(t), planAt(t, afterTheDuty.AddDate(-1, 0, 0)))
	s.expectLeftOver(t, "after the duty", zoe.id(t), planAt(t, afterTheDuty),
		domain.Leftover{Table: "invoices", Column: "address", Rows: 3})
}

func subjectVerificationFindsRowsByTheKey(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	gone := customer{"acme", 9, 90_000}
	s.Insert(t, "remarks", Row{"id": int64(1), "target_type": "person", "tenant": gone.tenant, "target": gone.number})
	s.Insert(t, "remarks", Row{"id": int64(2), "target_type": "order", "tenant": gone.tenant, "target": gone.number})
	s.expectLeftOver(t, "without the subject's row", gone.id(t), planAt(t, noon),
		domain.Leftover{Table: "remarks", Rows: 1})
}

func subjectVerificationPassesEmptyCells(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	s.Insert(t, "people", Row{"tenant": zoe.tenant, "number": zoe.number, "email": "", "login": "zoe"})
	s.Insert(t, "orders", zoe.row(zoe.ids, nil))
	s.Insert(t, "orders", zoe.row(zoe.ids+1, Row{"note": ""}))
	s.expectLeftOver(t, "of rows with a login alone", zoe.id(t), planAt(t, noon),
		domain.Leftover{Table: "people", Column: "login", Rows: 1})
}

func subjectVerificationPassesNewRows(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	s.apply(t, zoe, planAt(t, noon)...)
	for i, added := range []any{after(1), noon, after(-1), nil} {
		id := zoe.ids + 100 + int64(i)
		s.Insert(t, "orders", zoe.row(id, Row{"note": "a note", "created_at": added}))
		s.Insert(t, "order_lines", Row{"order_id": id, "line": int64(1), "engraving": "a line"})
		s.Insert(t, "messages", zoe.row(id, Row{"body": "a body", "created_at": added}))
		s.Insert(t, "messages", zoe.row(id+50, Row{"body": "a body", "reply_to": id}))
	}
	s.expectLeftOver(t, "three of four old, and replies", zoe.id(t), planAt(t, noon),
		domain.Leftover{Table: "messages", Rows: 3 + 4},
		domain.Leftover{Table: "order_lines", Column: "engraving", Rows: 3},
		domain.Leftover{Table: "orders", Column: "note", Rows: 3})
}

func subjectVerificationCountsTheSubjectsRow(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	s.Insert(t, "people", Row{
		"tenant": zoe.tenant, "number": zoe.number, "email": "zoe@example.org", "created_at": after(1),
	})
	s.expectLeftOver(t, "of a row that is newer than the erasure", zoe.id(t), planAt(t, noon),
		domain.Leftover{Table: "people", Column: "email", Rows: 1})
}

func subjectVerificationOnlyReads(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		erased := session.Erased()
		short := subjectOf(t, "acme")
		isError(t, "an id of one element", errOf(erased.LeftOver(ctx, short, wholePlan(t), noon)), domain.ErrSubject)
		unknown := []datamap.Step{{Target: "habeas_outbox", Strategy: domain.StrategyDelete}}
		isError(t, "a step about an unknown table", errOf(erased.LeftOver(ctx, zoe.id(t), unknown, noon)),
			domain.ErrManifest)
		if _, err := erased.LeftOver(ctx, zoe.id(t), wholePlan(t), noon); err != nil {
			return err
		}
		return session.Subjects().Export(ctx, zoe.id(t), func(domain.ExportRecord) error { return nil })
	})
	expectUnchanged(t, "after a verification", s.content(t), before)
}
