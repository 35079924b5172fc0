package porttest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestRetentionSweeper checks that a store keeps the promises of ports.ErasedStore about sweeps.
func TestRetentionSweeper(t *testing.T, harness StoreHarness) {
	t.Helper()
	promise.Hold(t, sweepPromises, harness, harness.Waive)
}

// sweepPromises are the promises about sweeps.
var sweepPromises = []promise.Promise[StoreHarness]{
	that(sweepOverwritesRetainedCells,
		"A sweep overwrites the retained cells of an erased subject when their retention period has ended."),
	that(sweepLeavesDutiesThatGoOn, "A sweep leaves a cell whose retention period has not begun or has not ended."),
	that(sweepFindsNothingMoreTheSecondTime, "A second sweep overwrites nothing, for every type of column."),
	that(sweepTakesDutiesThatEndLater, "A later sweep overwrites the cells whose retention period has ended since."),
	that(sweepLeavesTheMark, "A sweep changes only SweptAt of the mark of the erasure."),
	that(sweepLeavesSubjectsThatWereNotErased, "A sweep does not affect a subject that was never erased."),
	that(sweepSparesNewDutiesOfReturnedSubjects,
		"If a subject was created again, a sweep leaves cells whose duty began after the erasure."),
	that(sweepTakesNewDutiesOfErasedSubjects,
		"If a subject was not created again, a sweep also overwrites cells whose duty began after the erasure and is over."),
	that(sweepReturnsKeys, "SweptKeys returns the keys in the cells that a sweep would overwrite, and no other keys."),
	that(sweepOmitsHeldKeys, "SweptKeys omits each key that another cell in the subject's rows holds."),
	that(sweepCanBeRolledBack, "A rollback undoes a sweep."),
	that(sweepExcludesErasures, "A sweep and an erasure of one subject run one after the other."),
	that(sweepRefusesOtherSteps, "Sweep returns ErrManifest for a step that affects other cells than retained ones."),
}

// sweepShop is a shop for the cases of sweeps. Its customers are erased a year after their invoices were issued.
type sweepShop struct{ shopUnderTest }

var (
	erasedAt = issued.AddDate(1, 0, 0)
	overAt   = issued.AddDate(10, 0, 3) // after the end of the retention periods that begin at issued
)

// openSweepShop opens a shop in which some customers also have a gift, and erases zoe and others[0].
func (h StoreHarness) openSweepShop(t testing.TB) sweepShop {
	t.Helper()
	s := sweepShop{h.shop(t)}
	for _, who := range []customer{zoe, others[0], others[1]} {
		s.Insert(t, "gifts", Row{
			"id": who.ids, "tenant": who.tenant, "giver": who.number, "wish": "wish", "price": "price", "sent_at": issued,
		})
	}
	s.Insert(t, "invoices", zoe.row(zoe.ids+50, Row{"address": "a street", "phone": "1", "issued_at": nil}))
	s.Insert(t, "invoices", zoe.row(zoe.ids+60, Row{"address": nil, "phone": "1", "issued_at": issued}))
	s.erase(t, zoe, erasedAt)
	s.erase(t, others[0], erasedAt)
	return s
}

func sweepPlan(t testing.TB, at time.Time) []datamap.Step {
	t.Helper()
	return plan.SweepAt(datamap.Plan{Steps: wholePlan(t)}, at)
}

func (s sweepShop) erase(t testing.TB, who customer, at time.Time) {
	t.Helper()
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		if _, err := subjects.Lock(ctx, who.id(t), at); err != nil {
			return err
		}
		return errOf(subjects.Apply(ctx, who.id(t), plan.LocalAt(datamap.Plan{Steps: wholePlan(t)}, at)))
	})
}

// sweep calls Sweep for a customer. It checks that Sweep overwrites cells in each of the given invoices and gifts
// (lists of ids), and in no other row. If a list is not empty, sweep also checks that Due returned the customer before
// the sweep.
func (s sweepShop) sweep(t testing.TB, what string, who customer, at time.Time, invoices, gifts []int64) {
	t.Helper()
	before, due := s.content(t), s.due(t, at)
	rows := read(t, s.Store, func(ctx context.Context, session ports.Session) ([]int64, error) {
		return session.Erased().Sweep(ctx, who.id(t), sweepPlan(t, at))
	})
	want := map[string][]int64{"invoices": invoices, "gifts": gifts}
	for i, step := range sweepPlan(t, at) {
		assert(t, len(rows) > i && rows[i] == int64(len(want[step.Target])),
			"%s: %v rows were swept, want %d of %s", what, rows, len(want[step.Target]), step.Target)
	}
	assert(t, len(invoices)+len(gifts) == 0 || slices.Contains(due, who.id(t)), "%s: the subject is not due", what)
	after := s.content(t)
	for table, column := range map[string]string{"invoices": "address", "gifts": "price"} {
		for i, row := range after[table] {
			id, _ := row["id"].(int64)
			overwritten := slices.Contains(want[table], id)
			assert(t, same(row[column], before[table][i][column]) != overwritten,
				"%s: a cell of %s was overwritten: %v", what, table, !overwritten)
			after[table][i][column], before[table][i][column] = nil, nil
		}
	}
	expectUnchanged(t, what+": another cell", after, before)
}

// due returns the subjects that Due returns for all erasure marks.
func (s sweepShop) due(t testing.TB, at time.Time) []domain.SubjectID {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) ([]domain.SubjectID, error) {
		marks, err := session.Erased().Marks(ctx, everyMark)
		if err != nil {
			return nil, err
		}
		return session.Erased().Due(ctx, marks, sweepPlan(t, at))
	})
}

var ofZoe = []int64{zoe.ids, zoe.ids + 1, zoe.ids + 2}

func sweepOverwritesRetainedCells(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	due := s.due(t, overAt)
	assert(t, slices.Equal(due, []domain.SubjectID{zoe.id(t), others[0].id(t)}),
		"%d subjects are due, want the two erased subjects in the order of their marks", len(due))
	s.sweep(t, "the first one", zoe, overAt, ofZoe, []int64{zoe.ids})
	s.sweep(t, "the second one", others[0], overAt, []int64{others[0].ids}, []int64{others[0].ids})
}

func sweepLeavesDutiesThatGoOn(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	early := issued.AddDate(10, 0, -1)
	assert(t, len(s.due(t, early)) == 0, "before the end of the duties, %d subjects are due", len(s.due(t, early)))
	s.sweep(t, "before the end of the duties", zoe, early, nil, nil)
}

func sweepFindsNothingMoreTheSecondTime(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	s.sweep(t, "the first time", zoe, overAt, ofZoe, []int64{zoe.ids})
	s.sweep(t, "the second time", zoe, overAt, nil, nil)
	s.sweep(t, "years later", zoe, overAt.AddDate(9, 0, 0), nil, nil)
	s.erase(t, others[0], overAt)
	s.sweep(t, "after another erasure", others[0], overAt.AddDate(1, 0, 0), nil, nil)
	assert(t, len(s.due(t, overAt.AddDate(9, 0, 0))) == 0, "after the sweeps, a subject is due")
}

func sweepTakesDutiesThatEndLater(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	later := zoe.ids + 70
	s.Insert(t, "invoices", zoe.row(later, Row{"address": "a street", "issued_at": issued.AddDate(0, 2, 0)}))
	s.Insert(t, "gifts", Row{
		"id": later, "tenant": zoe.tenant, "giver": zoe.number, "price": "price", "sent_at": issued.AddDate(0, 2, 0),
	})
	s.sweep(t, "the first time", zoe, overAt, ofZoe, []int64{zoe.ids})
	s.sweep(t, "later", zoe, overAt.AddDate(0, 2, 0), []int64{later}, []int64{later})
}

func sweepLeavesTheMark(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	m := marksStore{s.Store}
	before := m.list(t, everyMark)
	s.sweep(t, "a sweep before the end of the duties", zoe, issued.AddDate(10, 0, -1), nil, nil)
	assert(t, slices.Equal(before, m.list(t, everyMark)), "a sweep that overwrote nothing has changed the marks")
	s.sweep(t, "a sweep", zoe, overAt, ofZoe, []int64{zoe.ids})
	after := m.list(t, everyMark)
	must(t, len(before) == 2 && len(after) == 2, "%d marks before the sweep and %d after it", len(before), len(after))
	assert(t, before[0].SweptAt.IsZero() && after[0].SweptAt.Equal(overAt) && after[1].SweptAt.IsZero(),
		"SweptAt is %v, %v and %v", before[0].SweptAt, after[0].SweptAt, after[1].SweptAt)
	after[0].SweptAt = time.Time{}
	assert(t, slices.Equal(before, after), "the marks were %v and are %v", before, after)
}

func sweepLeavesSubjectsThatWereNotErased(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	s.sweep(t, "one who was not erased", others[1], overAt, nil, nil)
	s.sweep(t, "a subject without rows", customer{"nobody", 7, 900_000}, overAt, nil, nil)
}

// addLaterDuties adds an invoice and a gift of zoe. Their retention periods begin after zoe's erasure. Both rows have
// the returned id.
func (s sweepShop) addLaterDuties(t testing.TB) (id int64) {
	t.Helper()
	id = zoe.ids + 80
	since := erasedAt.AddDate(0, 1, 0)
	s.Insert(t, "invoices", zoe.row(id, Row{"address": "a street", "issued_at": since}))
	s.Insert(t, "gifts", Row{"id": id, "tenant": zoe.tenant, "giver": zoe.number, "price": "price", "sent_at": since})
	return id
}

func sweepSparesNewDutiesOfReturnedSubjects(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	s.addLaterDuties(t)
	s.rectify(t, zoe, rectifies("people", "email", "new@example.org"))
	s.sweep(t, "one who came back", zoe, overAt.AddDate(5, 0, 0), ofZoe, []int64{zoe.ids})
}

func sweepTakesNewDutiesOfErasedSubjects(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	id := s.addLaterDuties(t)
	s.rectify(t, zoe, rectifies("people", "score", 3.5)) // a number does not show that the subject was created again
	s.sweep(t, "one who is gone", zoe, overAt.AddDate(5, 0, 0), append(ofZoe[:3:3], id), []int64{zoe.ids, id})
}

func sweepReturnsKeys(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	// SweptKeys must not return this key, because the cell has no retention period. A sweep therefore does not overwrite
	// it.
	s.Insert(t, "order_lines", Row{"order_id": zoe.ids, "line": int64(70), "engraving": "a new key"})
	var want []string
	for _, row := range s.content(t)["invoices"] {
		if id, _ := row["id"].(int64); slices.Contains(ofZoe, id) {
			key, _ := row["address"].(string)
			want = append(want, key)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	query := plan.KeyQuery{Resolver: media, ErasedAt: overAt, Limit: 100}
	early := query
	early.ErasedAt = issued.AddDate(10, 0, -1)
	expectKeys(t, "before the end of the duties", s.sweptKeys(t, zoe, early))
	expectKeys(t, "after the end of the duties", s.sweptKeys(t, zoe, query), want...)
	page := query
	page.After, page.Limit = want[0], 1
	expectKeys(t, "after the first key", s.sweptKeys(t, zoe, page), want[1:min(2, len(want))]...)
	expectKeys(t, "without an instant", s.sweptKeys(t, zoe, plan.KeyQuery{Resolver: media, Limit: 100}))
	expectKeys(t, "without a limit", s.sweptKeys(t, zoe, plan.KeyQuery{Resolver: media, ErasedAt: overAt}))
	expectKeys(t, "of another system", s.sweptKeys(t, zoe, plan.KeyQuery{
		Resolver: atlas, ErasedAt: overAt,
		Limit: 100,
	}))
	expectKeys(t, "of a subject that was not erased", s.sweptKeys(t, others[1], query))
	s.addLaterDuties(t)
	s.rectify(t, zoe, rectifies("people", "email", "new@example.org"))
	query.ErasedAt = overAt.AddDate(5, 0, 0)
	expectKeys(t, "of a subject that came back", s.sweptKeys(t, zoe, query), want...)
}

func sweepOmitsHeldKeys(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	address := zoe.says("address")
	later := zoe.ids + 90
	s.Insert(t, "invoices", zoe.row(later, Row{"address": address, "issued_at": issued.AddDate(2, 0, 0)}))
	query := plan.KeyQuery{Resolver: media, ErasedAt: overAt, Limit: 100}
	expectKeys(t, "during another duty", s.sweptKeys(t, zoe, query))
	s.sweep(t, "the first sweep", zoe, overAt, ofZoe, []int64{zoe.ids})
	query.ErasedAt = overAt.AddDate(2, 0, 0)
	expectKeys(t, "after the last duty", s.sweptKeys(t, zoe, query), address)
	s.Insert(t, "order_lines", Row{"order_id": zoe.ids, "line": int64(70), "engraving": address})
	expectKeys(t, "with a new row", s.sweptKeys(t, zoe, query))
}

// sweptKeys returns the keys in the cells that a sweep of the customer would overwrite.
func (s sweepShop) sweptKeys(t testing.TB, who customer, query plan.KeyQuery) []string {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) ([]string, error) {
		return session.Erased().SweptKeys(ctx, who.id(t), query)
	})
}

func sweepCanBeRolledBack(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	before := s.content(t)
	undo(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return errOf(session.Erased().Sweep(ctx, zoe.id(t), sweepPlan(t, overAt)))
	})
	expectUnchanged(t, "after a rollback", s.content(t), before)
	s.sweep(t, "after a rollback", zoe, overAt, ofZoe, []int64{zoe.ids})
}

func sweepExcludesErasures(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	lock := func(ctx context.Context, session ports.Session) error {
		return errOf(session.Subjects().Lock(ctx, zoe.id(t), erasedAt))
	}
	sweep := func(ctx context.Context, session ports.Session) error {
		return errOf(session.Erased().Sweep(ctx, zoe.id(t), sweepPlan(t, erasedAt)))
	}
	for name, pair := range map[string][2]sessionUse{
		"a sweep and an erasure": {sweep, lock}, "an erasure and a sweep": {lock, sweep},
	} {
		locked := make(chan struct{})
		second, ended := concurrently(func() {
			notify := sync.OnceFunc(func() { close(locked) })
			err := try(t, s.Store, func(ctx context.Context, session ports.Session) error {
				err := pair[1](ctx, session)
				if err == nil {
					notify()
				}
				return err
			})
			assert(t, err == nil, "%s: the second session failed: %v", name, err)
		})
		do(t, s.Store, func(ctx context.Context, session ports.Session) error {
			if err := pair[0](ctx, session); err != nil {
				return err
			}
			second()
			if _, ok := receiveWithin(locked, moment); ok {
				t.Errorf("%s hold the lock of the subject concurrently", name)
			}
			return nil
		})
		ended()
	}
}

func sweepRefusesOtherSteps(t testing.TB, h StoreHarness) {
	s := h.openSweepShop(t)
	before := s.content(t)
	for name, step := range map[string]datamap.Step{
		"deletes":            deleteStep(t, "addresses"),
		"anonymizes a table": anonymizeStep(t, "people"),
		"retains":            retainStep(t, "invoices"),
		"sweeps what has none": {
			Target: "people", Strategy: domain.StrategyAnonymize, Expired: []string{"email"}, At: overAt,
		},
		"does so and more": {
			Target: "invoices", Strategy: domain.StrategyAnonymize, Columns: []string{"phone"}, Expired: []string{"address"},
			At: overAt,
		},
	} {
		err := try(t, s.Store, func(ctx context.Context, session ports.Session) error {
			return errOf(session.Erased().Sweep(ctx, zoe.id(t), []datamap.Step{step}))
		})
		isError(t, "a step that "+name, err, domain.ErrManifest)
	}
	expectUnchanged(t, "after steps that were refused", s.content(t), before)
}
