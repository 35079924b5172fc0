package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// brokenSweeper is an ErasedStore with defective sweeps. Each function that is set replaces a method. The other methods
// are correct.
type brokenSweeper struct {
	ports.ErasedStore
	subjects ports.SubjectStore

	due   func([]domain.SubjectID) []domain.SubjectID
	sweep func(b brokenSweeper, ctx context.Context, id domain.SubjectID, steps []datamap.Step) ([]int64, error)
	keys  func(b brokenSweeper, ctx context.Context, id domain.SubjectID, query datamap.KeyQuery) ([]string, error)
	marks func(*domain.ErasureMark)
}

func (b brokenSweeper) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		broken := b
		broken.ErasedStore, broken.subjects = s.Erased(), s.Subjects()
		if b.marks != nil {
			broken.ErasedStore = brokenMarks{ErasedStore: s.Erased(), every: b.marks}
		}
		return replacedStores{Session: s, erased: broken}
	})(store)
}

func (b brokenSweeper) Due(
	ctx context.Context, marks []domain.ErasureMark, steps []datamap.Step,
) ([]domain.SubjectID, error) {
	ids, err := b.ErasedStore.Due(ctx, marks, steps)
	if b.due != nil {
		ids = b.due(ids)
	}
	return ids, err
}

func (b brokenSweeper) Sweep(ctx context.Context, id domain.SubjectID, steps []datamap.Step) ([]int64, error) {
	if b.sweep == nil {
		return b.ErasedStore.Sweep(ctx, id, steps)
	}
	return b.sweep(b, ctx, id, steps)
}

func (b brokenSweeper) SweptKeys(
	ctx context.Context, id domain.SubjectID, query datamap.KeyQuery,
) ([]string, error) {
	if b.keys == nil {
		return b.ErasedStore.SweptKeys(ctx, id, query)
	}
	return b.keys(b, ctx, id, query)
}

type sweepFunc = func(brokenSweeper, context.Context, domain.SubjectID, []datamap.Step) ([]int64, error)

// appliesSteps returns a defective Sweep: it passes the steps through fn, and then calls Apply, as an erasure does.
func appliesSteps(fn func(step *datamap.Step)) sweepFunc {
	return func(b brokenSweeper, ctx context.Context, id domain.SubjectID, steps []datamap.Step) ([]int64, error) {
		steps = slices.Clone(steps)
		for i := range steps {
			fn(&steps[i])
		}
		return rowsOf(b.subjects.Apply(ctx, id, steps))
	}
}

// sweepsThen returns a defective Sweep: it makes a correct sweep and then calls the given function.
func sweepsThen(then func(b brokenSweeper, ctx context.Context, id domain.SubjectID) error) sweepFunc {
	return func(b brokenSweeper, ctx context.Context, id domain.SubjectID, steps []datamap.Step) ([]int64, error) {
		rows, err := b.ErasedStore.Sweep(ctx, id, steps)
		if err == nil {
			err = then(b, ctx, id)
		}
		return rows, err
	}
}

func TestARetentionSweeperThatKeepsItsPromisesPasses(t *testing.T) {
	TestRetentionSweeper(t, inMemory(noDefect))
}

func TestRetentionSweepersThatBreakAPromiseFail(t *testing.T) {
	sweeps := func(broken sweepFunc) func(*Store) { return brokenSweeper{sweep: broken}.breaks }
	nothing := func(*datamap.Step) {}
	promise.ExpectDefects(t, sweepPromises, brokenStore, defects{
		"of no subject": {brokenSweeper{due: func([]domain.SubjectID) []domain.SubjectID { return nil }}.breaks, found{
			"0 subjects are due": {sweepOverwritesRetainedCells},
		}},
		"of duties that go on": {sweeps(func(
			b brokenSweeper, ctx context.Context, id domain.SubjectID, steps []datamap.Step,
		) ([]int64, error) {
			for i := range steps {
				steps[i].At = steps[i].At.AddDate(1, 0, 0)
			}
			return b.ErasedStore.Sweep(ctx, id, steps)
		}), found{"before the end of the duties": {sweepLeavesDutiesThatGoOn}}},
		"of anything again": {sweeps(appliesSteps(nothing)), found{
			"the second time": {sweepFindsNothingMoreTheSecondTime},
			"one who was not": {sweepLeavesSubjectsThatWereNotErased},
			"one who came":    {sweepSparesNewDutiesOfReturnedSubjects},
		}},
		"of cells that were judged before": {sweeps(func(
			b brokenSweeper, ctx context.Context, id domain.SubjectID, steps []datamap.Step,
		) ([]int64, error) {
			if steps[0].At.After(overAt) {
				return make([]int64, len(steps)), nil
			}
			return b.ErasedStore.Sweep(ctx, id, steps)
		}), found{"later: [0 0] rows were swept": {sweepTakesDutiesThatEndLater}}},
		"of duties that began before the erasure": {sweeps(func(
			b brokenSweeper, ctx context.Context, id domain.SubjectID, steps []datamap.Step,
		) ([]int64, error) {
			for i := range steps {
				if steps[i].At.After(erasedAt.AddDate(10, 0, 0)) {
					steps[i].At = erasedAt.AddDate(10, 0, 0)
				}
			}
			return b.ErasedStore.Sweep(ctx, id, steps)
		}), found{"one who is gone": {sweepTakesNewDutiesOfErasedSubjects}}},
		"with a mark of its own": {
			sweeps(sweepsThen(func(b brokenSweeper, ctx context.Context, id domain.SubjectID) error {
				return errOf(b.subjects.Lock(ctx, id, noon))
			})), found{"the marks were": {sweepLeavesTheMark}},
		},
		"that is not noted": {brokenSweeper{marks: func(m *domain.ErasureMark) { m.SweptAt = time.Time{} }}.breaks, found{
			"SweptAt is": {sweepLeavesTheMark},
		}},
		"of any step": {sweeps(func(
			b brokenSweeper, ctx context.Context, id domain.SubjectID, steps []datamap.Step,
		) ([]int64, error) {
			if len(steps) == 1 {
				return []int64{0}, nil
			}
			return b.ErasedStore.Sweep(ctx, id, steps)
		}), found{"a step that": {sweepRefusesOtherSteps}}},
		"before the lock": {sweeps(func(
			b brokenSweeper, ctx context.Context, id domain.SubjectID, steps []datamap.Step,
		) ([]int64, error) {
			if steps[0].At.Equal(erasedAt) { // no duty is over at this instant
				return make([]int64, len(steps)), nil
			}
			return b.ErasedStore.Sweep(ctx, id, steps)
		}), found{"hold the lock of the subject concurrently": {sweepExcludesErasures}}},
		"with the keys of new rows": {brokenSweeper{keys: func(
			b brokenSweeper, ctx context.Context, id domain.SubjectID, query datamap.KeyQuery,
		) ([]string, error) {
			return b.subjects.Keys(ctx, id, query)
		}}.breaks, found{"after the end of the duties": {sweepReturnsKeys}}},
		"with keys of duties that go on": {brokenSweeper{keys: func(
			b brokenSweeper, ctx context.Context, id domain.SubjectID, query datamap.KeyQuery,
		) ([]string, error) {
			if !query.ErasedAt.IsZero() {
				query.ErasedAt = query.ErasedAt.AddDate(0, 0, 7)
			}
			return b.ErasedStore.SweptKeys(ctx, id, query)
		}}.breaks, found{"before the end of the duties": {sweepReturnsKeys}}},
		"with keys that other cells hold": {brokenSweeper{keys: func(
			b brokenSweeper, ctx context.Context, id domain.SubjectID, query datamap.KeyQuery,
		) ([]string, error) {
			keys, err := b.ErasedStore.SweptKeys(ctx, id, query)
			if len(keys) == 0 {
				keys = []string{zoe.says("address")}
			}
			return keys, err
		}}.breaks, found{"during another duty": {sweepOmitsHeldKeys}}},
		"with the keys of those who came back": {brokenSweeper{keys: func(
			b brokenSweeper, ctx context.Context, id domain.SubjectID, query datamap.KeyQuery,
		) ([]string, error) {
			keys, err := b.ErasedStore.SweptKeys(ctx, id, query)
			if query.ErasedAt.After(overAt) {
				keys = append(keys, "zzz")
			}
			return keys, err
		}}.breaks, found{"of a subject that came back": {sweepReturnsKeys}}},
		"that commits by itself": {commitsSweeps, found{"after a rollback": {sweepCanBeRolledBack}}},
	})
}

// commitsSweeps makes a store defective: a rollback does not undo a sweep.
func commitsSweeps(store *Store) {
	good := doFunc(store.Sessions.Do)
	changesDo(func(do doFunc, outside context.Context, fn sessionFunc) error {
		var pending func() error
		err := do(outside, func(ctx context.Context, s ports.Session) error {
			return fn(ctx, replacedStores{Session: s, erased: brokenSweeper{ErasedStore: s.Erased(), sweep: func(
				b brokenSweeper, ctx context.Context, id domain.SubjectID, steps []datamap.Step,
			) ([]int64, error) {
				pending = func() error {
					return good(outside, func(ctx context.Context, s ports.Session) error {
						return errOf(s.Erased().Sweep(ctx, id, steps))
					})
				}
				return b.ErasedStore.Sweep(ctx, id, steps)
			}}})
		})
		if err != nil && pending != nil {
			_ = pending()
		}
		return err
	})(store)
}
