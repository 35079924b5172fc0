package porttest

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestDutyStore checks that a store keeps the promises of ports.DutyStore.
func TestDutyStore(t *testing.T, harness StoreHarness) {
	t.Helper()
	promise.Hold(t, dutyPromises, harness, harness.Waive)
}

var dutyPromises = []promise.Promise[StoreHarness]{
	that(dutyListIsInOrder, "Read returns the duties that have an Every, in the order of domain.DutyNames."),
	that(dutyKeepsItsBegin, "Begin keeps the stored Began of a duty, unless a worker begins without the duty."),
	that(dutyKeepsItsLatestRuns,
		"Ended keeps the latest success and the latest failure with its outcome, in any order of the calls."),
	that(dutyOfARollbackIsNotStored, "A duty that was stored in a session that rolls back is not stored."),
	that(dutyBeginsAPassOnce, "BeginPass begins one pass in each interval, also if several sessions call it."),
	that(dutyCountsTheLeftoversOfAPass,
		"CountPass raises LeftOver as soon as a pass has found more, and replaces it at the end of the pass."),
	that(dutyHasNoNegativeLeftover, "AddLeftOver adds to LeftOver, which is never negative, and SetLeftOver replaces it."),
	that(dutyOfRetentionHasABegin, "RetentionSince returns the instant at which a hash was first seen."),
}

// dutyStore is a store with helper methods for duties.
type dutyStore struct{ Store }

// change runs fn on the duties in a session.
func (d dutyStore) change(t testing.TB, fn func(context.Context, ports.DutyStore) error) {
	t.Helper()
	do(t, d.Store, func(ctx context.Context, s ports.Session) error { return fn(ctx, s.Installation().Duties()) })
}

func (d dutyStore) begin(t testing.TB, duty domain.Duty) {
	t.Helper()
	d.change(t, func(ctx context.Context, duties ports.DutyStore) error { return duties.Begin(ctx, duty) })
}

func (d dutyStore) ended(t testing.TB, duty domain.Duty) {
	t.Helper()
	d.change(t, func(ctx context.Context, duties ports.DutyStore) error { return duties.Ended(ctx, duty) })
}

func (d dutyStore) expect(t testing.TB, what string, want ...domain.Duty) {
	t.Helper()
	got := read(t, d.Store, func(ctx context.Context, s ports.Session) ([]domain.Duty, error) {
		return s.Installation().Duties().Read(ctx)
	})
	assert(t, slices.EqualFunc(got, want, func(a, b domain.Duty) bool { return reflect.DeepEqual(a, b) }),
		"%s: the duties are %+v, want %+v", what, got, want)
}

func dutyListIsInOrder(t testing.TB, h StoreHarness) {
	d := dutyStore{h.open(t)}
	d.expect(t, "before the first")
	var want []domain.Duty
	for i, name := range domain.DutyNames() {
		want = append(want, domain.Duty{Name: name, Every: time.Duration(i+1) * time.Hour, Began: pointer(after(i))})
	}
	d.change(t, func(ctx context.Context, duties ports.DutyStore) error {
		return duties.SetLeftOver(ctx, domain.DutySweep, 0) // without an Every
	})
	for _, duty := range slices.Backward(want[1:]) {
		d.begin(t, duty)
	}
	d.expect(t, "without the first", want[1:]...)
	d.begin(t, want[0])
	d.expect(t, "all", want...)
}

func dutyKeepsItsBegin(t testing.TB, h StoreHarness) {
	d := dutyStore{h.open(t)}
	begun := domain.Duty{Name: domain.DutySweep, Every: time.Hour, Began: pointer(after(1))}
	d.begin(t, begun)
	again := domain.Duty{Name: domain.DutySweep, Every: time.Minute, Began: pointer(after(9))}
	d.begin(t, again)
	d.expect(t, "another start", domain.Duty{Name: domain.DutySweep, Every: time.Minute, Began: begun.Began})
	d.begin(t, domain.Duty{Name: domain.DutySweep})
	d.expect(t, "a start without the duty")
	d.begin(t, again)
	d.expect(t, "a start after that", again)
}

func dutyKeepsItsLatestRuns(t testing.TB, h StoreHarness) {
	d := dutyStore{h.open(t)}
	run := domain.Duty{Name: domain.DutyJournal, Every: time.Minute}
	succeeded, failed, failedBefore, succeededBefore := run, run, run, run
	succeeded.LastSuccess, succeededBefore.LastSuccess = pointer(after(8)), pointer(after(2))
	failed.LastFailure, failed.LastError = pointer(after(9)), domain.OutcomeTimeout
	failedBefore.LastFailure, failedBefore.LastError = pointer(after(3)), domain.Outcome(domain.ErrBehind)
	all := succeeded
	all.LastFailure, all.LastError = failed.LastFailure, failed.LastError
	for _, one := range []domain.Duty{
		failedBefore, failed, succeededBefore, succeeded, failedBefore, succeededBefore, all,
	} {
		d.ended(t, one)
	}
	d.expect(t, "after all runs", all)
	all.Began = pointer(after(5))
	d.begin(t, all)
	d.expect(t, "after a start", all)
}

func dutyOfARollbackIsNotStored(t testing.TB, h StoreHarness) {
	d := dutyStore{h.open(t)}
	undo(t, d.Store, func(ctx context.Context, s ports.Session) error {
		return s.Installation().Duties().Begin(ctx, domain.Duty{Name: domain.DutySweep, Every: time.Hour})
	})
	d.expect(t, "after a rollback")
}

func dutyBeginsAPassOnce(t testing.TB, h StoreHarness) {
	d := dutyStore{h.open(t)}
	expect := func(what string, at time.Time, want bool) {
		begun := read(t, d.Store, func(ctx context.Context, s ports.Session) (bool, error) {
			return s.Installation().Duties().BeginPass(ctx, domain.DutySweep, at, 10*time.Second)
		})
		assert(t, begun == want, "%s: BeginPass returned %v", what, begun)
	}
	expect("the first pass", noon, true)
	expect("within the interval", after(10).Add(-tick), false)
	expect("after the interval", after(10), true)
	expect("before a begin in the future", after(10).Add(-tick), true)
	var racing sync.WaitGroup
	var begun atomic.Int64
	for range 4 {
		racing.Go(func() {
			var first bool
			err := try(t, d.Store, func(ctx context.Context, s ports.Session) (err error) {
				first, err = s.Installation().Duties().BeginPass(ctx, domain.DutySweep, after(60), 10*time.Second)
				return err
			})
			assert(t, err == nil, "a session that begins a pass failed: %v", err)
			if first {
				begun.Add(1)
			}
		})
	}
	racing.Wait()
	assert(t, begun.Load() == 1, "%d sessions have begun the same pass", begun.Load())
}

func dutyCountsTheLeftoversOfAPass(t testing.TB, h StoreHarness) {
	d, sweep := dutyStore{h.open(t)}, domain.Duty{Name: domain.DutySweep, Every: time.Hour}
	d.begin(t, sweep)
	for i, count := range []struct {
		n    int64
		ends bool
		left int64
	}{
		{2, false, 2}, {1, false, 3}, {0, true, 3}, {1, false, 3}, {3, false, 4}, {0, true, 4}, {1, false, 4}, {0, true, 1},
	} {
		d.change(t, func(ctx context.Context, duties ports.DutyStore) error {
			return duties.CountPass(ctx, domain.DutySweep, count.n, count.ends)
		})
		sweep.LeftOver = count.left
		d.expect(t, "count "+strconv.Itoa(i), sweep)
	}
}

func dutyHasNoNegativeLeftover(t testing.TB, h StoreHarness) {
	d, duty := dutyStore{h.open(t)}, domain.Duty{Name: domain.DutyVerification, Every: time.Hour}
	d.begin(t, duty)
	for _, add := range []struct{ n, left int64 }{{-1, 0}, {2, 2}, {-1, 1}, {-2, 0}, {1, 1}} {
		d.change(t, func(ctx context.Context, duties ports.DutyStore) error {
			return duties.AddLeftOver(ctx, duty.Name, add.n)
		})
		duty.LeftOver = add.left
		d.expect(t, "after an addition", duty)
	}
	d.change(t, func(ctx context.Context, duties ports.DutyStore) error { return duties.SetLeftOver(ctx, duty.Name, 7) })
	duty.LeftOver = 7
	d.expect(t, "after a replacement", duty)
}

func dutyOfRetentionHasABegin(t testing.TB, h StoreHarness) {
	store := h.open(t)
	for _, call := range []struct {
		hash     int64
		at, want time.Time
	}{{7, after(1), after(1)}, {7, after(2), after(1)}, {1 << 62, after(3), after(3)}, {7, after(4), after(4)}} {
		since := read(t, store, func(ctx context.Context, s ports.Session) (time.Time, error) {
			return s.Installation().RetentionSince(ctx, call.hash, call.at)
		})
		assert(t, since.Equal(call.want), "RetentionSince returned %v, want %v", since, call.want)
	}
}
