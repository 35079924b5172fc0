package saga_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
)

// takesOf returns an erasure whose duration depends on the entry, in milliseconds.
func takesOf(milliseconds ...int) erases {
	return func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
		i, err := strconv.Atoi(id[len("entry-"):])
		if err != nil {
			return false, err
		}
		return takes(time.Duration(milliseconds[i])*time.Millisecond)(ctx, ref, id)
	}
}

// sizes returns the number of settlements of each transaction.
func sizes(settled [][]domain.Settlement) []int {
	var made []int
	for _, batch := range settled {
		made = append(made, len(batch))
	}
	return made
}

func TestOutcomesThatArriveCloseToEachOtherShareATransaction(t *testing.T) {
	for name, c := range map[string]struct {
		milliseconds []int
		want         []int
		takes        time.Duration // in milliseconds
	}{
		"at the same time":        {[]int{5, 5, 5, 5}, []int{4}, 5}, // and the last one ends the wait
		"a little apart":          {[]int{0, 10, 19, 15}, []int{4}, 19},
		"far apart":               {[]int{0, 100, 200, 300}, []int{1, 1, 1, 1}, 300},
		"two and two":             {[]int{0, 10, 50, 55}, []int{2, 2}, 55},
		"one that takes its time": {[]int{1, 9000, 1, 1}, []int{3, 1}, 9000},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil, desk(t, takesOf(c.milliseconds...)))
			w.expectSession().Times(1 + len(c.want))
			got := w.settled()
			w.expectClaim(claimed(t, domain.OperationErase, 1, len(c.milliseconds))...)
			start := bubble.Now()
			w.mustSettle(t, len(c.milliseconds))
			if !slices.Equal(sizes(*got), c.want) {
				t.Errorf("%s: settled %v, want %v", name, sizes(*got), c.want)
			}
			if waited := since(start); waited != c.takes*time.Millisecond {
				t.Errorf("%s: took %v, want %d ms", name, waited, c.takes)
			}
		})
	}
}

func TestFiftyQuickOutcomesAreOneTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, desk(t, responds(false, nil)))
		w.expectSession().Times(2)
		w.settled()
		w.expectClaim(claimed(t, domain.OperationErase, 1, 50)...)
		w.expectClaim() // the rest of the batch
		w.mustSettle(t, 50)
	})
}

func TestStaleSettlementsCountNothingAndLeaveNoEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := 0
		w := newWorld(t, func(c *saga.Config) {
			c.Concurrency = 1 // keeps the order
			c.OnAbandoned = func(context.Context, domain.OutboxEntry) { reported++ }
		}, desk(t, func(_ context.Context, _ domain.SubjectRef, id string) (bool, error) {
			return false, map[string]error{"entry-0": nil, "entry-1": errBoom, "entry-2": refused, "entry-3": nil}[id]
		}))
		w.expectSession().Times(2)
		w.expectClaim(claimed(t, domain.OperationErase, 1, 4)...)
		w.outbox.EXPECT().Settle(anything, anything).Return(
			[]domain.SettleResult{{Stale: true}, {Stale: true}, {Stale: true}, {}}, nil)
		w.audit.EXPECT().Append(anything, anything) // once, for entry-3
		w.mustSettle(t, 1)
		if reported != 0 {
			t.Errorf("reported %d entries that another runner has", reported)
		}
	})
}

func TestEventsComeInTheOrderOfTheOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *saga.Config) { c.Concurrency = 1 }, desk(t, responds(false, nil)))
		w.expectSession().Times(2)
		w.expectClaim(claimed(t, domain.OperationErase, 1, 2)...)
		w.outbox.EXPECT().Settle(anything, anything).Return([]domain.SettleResult{{}, {Completes: true}}, nil)
		var types []domain.EventType
		w.audit.EXPECT().Append(anything, anything).DoAndReturn(
			func(_ context.Context, events ...domain.AuditEvent) error {
				for _, event := range events {
					types = append(types, event.EventType)
				}
				return nil
			}).AnyTimes()
		w.mustSettle(t, 2)
		if !slices.Equal(types, []domain.EventType{erased, erased, domain.EventErasureCompleted}) {
			t.Errorf("got %v", types)
		}
	})
}

// If one settlement fails, RunOnce returns the error. It nevertheless writes the other settlements.
func TestASettlementThatFailsIsAnError(t *testing.T) {
	for name, fail := range map[string]func(w world){
		"the settlement": func(w world) {
			w.expectSession()
			w.outbox.EXPECT().Settle(anything, anything).Return(nil, errBoom)
		},
		"the events": func(w world) {
			w.expectSession()
			w.outbox.EXPECT().Settle(anything, anything).Return(make([]domain.SettleResult, 1), nil)
			w.audit.EXPECT().Append(anything, anything).Return(errBoom)
		},
		"the commit": func(w world) {
			w.sessions.EXPECT().Do(anything, anything).DoAndReturn(func(ctx context.Context, fn session) error {
				return errors.Join(fn(ctx, w.session), errBoom)
			})
			w.outbox.EXPECT().Settle(anything, anything).Return(make([]domain.SettleResult, 1), nil)
			w.audit.EXPECT().Append(anything, anything)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var reported []string
				w := newWorld(t, func(c *saga.Config) {
					c.MaxAttempts = 1
					c.OnAbandoned = func(_ context.Context, entry domain.OutboxEntry) { reported = append(reported, entry.EntryID) }
				}, desk(t, func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
					_, _ = takesOf(0, 100)(ctx, ref, id)
					return false, errBoom
				}))
				w.expectSession()
				w.expectClaim(claimed(t, domain.OperationErase, 1, 2)...)
				fail(w)
				w.expectSession()
				w.settled() // the settlement of the other entry
				settled, err := w.RunOnce(t.Context())
				if settled != 1 || !errors.Is(err, errBoom) || !slices.Equal(reported, []string{"entry-1"}) {
					t.Errorf("got %d, %v, reported %v", settled, err, reported)
				}
			})
		})
	}
}

func TestASessionThatRunsTwiceCountsOnce(t *testing.T) {
	for name, c := range map[string]struct {
		first, second []domain.SettleResult
		want          int
	}{
		"settled both times":      {make([]domain.SettleResult, 2), make([]domain.SettleResult, 2), 2},
		"stale the second time":   {make([]domain.SettleResult, 2), []domain.SettleResult{{Stale: true}, {Stale: true}}, 0},
		"one stale at each time":  {[]domain.SettleResult{{Stale: true}, {}}, []domain.SettleResult{{}, {Stale: true}}, 1},
		"fewer stale at the last": {[]domain.SettleResult{{Stale: true}, {}}, make([]domain.SettleResult, 2), 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			var reported int
			w := newWorld(t, func(config *saga.Config) {
				config.OnAbandoned = func(context.Context, domain.OutboxEntry) { reported++ }
			}, desk(t, responds(false, refused)))
			w.expectSession()
			w.expectClaim(claimed(t, domain.OperationErase, 1, 2)...)
			w.outbox.EXPECT().Settle(anything, anything).Return(c.first, nil)
			w.outbox.EXPECT().Settle(anything, anything).Return(c.second, nil)
			w.audit.EXPECT().Append(anything, anything).AnyTimes()
			w.sessions.EXPECT().Do(anything, anything).DoAndReturn(func(ctx context.Context, fn session) error {
				must(t, w.do(ctx, fn)) // conflicts with another session and is rolled back
				return w.do(ctx, fn)
			})
			w.mustSettle(t, c.want)
			if reported != c.want {
				t.Errorf("%s: reported %d times, want %d", name, reported, c.want)
			}
		})
	}
}

// RunOnce returns even if the store never responds.
func TestASettlementWaitsForTheStoreNoLongerThanTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, desk(t, takesOf(0, 5000)))
		w.expectSession()
		w.expectClaim(claimed(t, domain.OperationErase, 1, 2)...)
		var asked atomic.Int64
		w.sessions.EXPECT().Do(anything, anything).DoAndReturn(func(ctx context.Context, _ session) error {
			asked.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}).AnyTimes()
		start := bubble.Now()
		settled, err := w.RunOnce(t.Context())
		if settled != 0 || !errors.Is(err, context.DeadlineExceeded) || asked.Load() != 2 {
			t.Errorf("got %d, %v after %d sessions", settled, err, asked.Load())
		}
		if waited := since(start); waited < 5*time.Minute || waited > 6*time.Minute {
			t.Errorf("waited %v", waited)
		}
	})
}
