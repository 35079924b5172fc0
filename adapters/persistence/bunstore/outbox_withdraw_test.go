package bunstore_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func (b box) withdraw(t testing.TB, of string) (withdrawn []domain.OutboxEntry) {
	t.Helper()
	b.do(t, func(ctx context.Context, outbox wholeOutbox) (err error) {
		withdrawn, err = outbox.Withdraw(ctx, subject(t, of))
		return err
	})
	return withdrawn
}

func TestWithdrawAbandonsOpenRectificationsAndDeletesTheirCorrections(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		names := []string{"succeeded", "abandoned", "failed", "in flight", "erasure"}
		for i, name := range names[:4] {
			b.enqueue(t, toRectify(t, name, "1", time.Duration(i)*time.Second))
		}
		b.enqueue(t, toErase(t, "erasure", "1", 0), toRectify(t, "of another", "2", 0))
		e := b.claimOf(t, noon, names...)
		b.settle(t, succeeds(e[0]), abandons(e[1]), fails(e[2], noon.Add(time.Hour)))
		left := map[string]row{}
		for _, name := range []string{"succeeded", "abandoned", "erasure", "of another"} {
			left[name] = b.row(t, name)
		}
		b.enqueue(t, toRectify(t, "pending", "1", 0))
		withdrawn := b.withdraw(t, "1")
		if got := ids(withdrawn); !slices.Equal(got, []string{"pending", "failed", "in flight"}) {
			t.Errorf("withdrawn are %v", got)
		}
		for i, attempts := range []int{0, 1, 1} {
			entry := withdrawn[i]
			if entry.Status != domain.OutboxAbandoned || entry.Corrections != nil || entry.Ref.Value != "" {
				t.Errorf("returned is %+v", entry)
			}
			if got, want := b.row(t, entry.EntryID).String(), fmt.Sprintf("abandoned %d erased", attempts); got != want {
				t.Errorf("%s is %s, want %s", entry.EntryID, got, want)
			}
		}
		for name, before := range left {
			if after := b.row(t, name); !reflect.DeepEqual(after, before) {
				t.Errorf("%s was %v and is %v", name, before, after)
			}
		}
		if again := b.withdraw(t, "1"); len(again) > 0 {
			t.Errorf("withdrawn once more: %v", again)
		}
	})
}

func TestASettlementOfAWithdrawnEntryIsStale(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, toRectify(t, "a", "1", 0), toRectify(t, "b", "1", 0), toErase(t, "c", "1", 0))
		e := b.claimOf(t, noon, "a", "b", "c")
		b.withdraw(t, "1")
		got := b.settle(t, succeeds(e[0]), fails(e[1], noon), succeeds(e[2]))
		if !slices.Equal(got, []domain.SettleResult{stale, stale, completes}) {
			t.Errorf("got %v", got)
		}
		if got := b.row(t, "a").String(); got != "abandoned 1 erased" {
			t.Errorf("left is %s", got)
		}
	})
}

// A withdrawal locks outbox entries in the same order as a settlement, so that the two do not deadlock. This must hold
// even if another transaction has locked an entry in the middle of the order.
func TestAWithdrawalAndASettlementDoNotDeadlock(t *testing.T) {
	t.Parallel()
	b := newBox(t, databases.PostgreSQL(t))
	b.enqueue(t, toRectify(t, "c", "1", 0), toRectify(t, "a", "1", time.Second), toRectify(t, "b", "1", time.Minute))
	var settlements []domain.Settlement
	for _, entry := range b.claimOf(t, noon, "a", "b", "c") {
		settlements = append(settlements, succeeds(entry))
	}
	holder, err := b.db.BeginTx(t.Context(), nil)
	must(t, err)
	_, err = holder.ExecContext(t.Context(), "SELECT 1 FROM habeas_outbox WHERE entry_id = 'b' FOR UPDATE")
	must(t, err)
	var runs atomic.Int64
	var both sync.WaitGroup
	for i, fn := range []func(context.Context, wholeOutbox) error{
		func(ctx context.Context, outbox wholeOutbox) error {
			_, err := outbox.Settle(ctx, settlements)
			return err
		},
		func(ctx context.Context, outbox wholeOutbox) error {
			_, err := outbox.Withdraw(ctx, subject(t, "1"))
			return err
		},
	} {
		both.Go(func() {
			err := b.try(func(ctx context.Context, outbox wholeOutbox) error {
				runs.Add(1)
				return fn(ctx, outbox)
			})
			if err != nil {
				t.Error(err)
			}
		})
		for b.lockWaits(t) <= i && t.Context().Err() == nil { // the session does not wait for the locked entry yet
		}
	}
	must(t, holder.Rollback())
	both.Wait()
	if runs.Load() != 2 {
		t.Errorf("two sessions ran %d times", runs.Load())
	}
}

// Two concurrent statements want to change the same outbox entry, so the second statement waits for the first one.
// After the wait, the entry no longer meets the condition of the second statement, which must not change it.
func TestAChangeThatWaitedLeavesChangedEntries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entry         func(testing.TB, string, string, time.Duration) domain.OutboxEntry
		settle        func(domain.OutboxEntry) domain.Settlement // settles the entry before the first change
		first, second func(ctx context.Context, outbox wholeOutbox, e domain.OutboxEntry) ([]domain.OutboxEntry, error)
		want          string
	}{
		"a withdrawal behind a settlement": {toRectify, nil, settled, withdrawn, "succeeded 1"},
		"a requeue behind a requeue":       {toErase, abandons, requeued, requeued, "pending 0 ref"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, databases.PostgreSQL(t))
			b.enqueue(t, c.entry(t, "a", "1", 0))
			e := b.claimOf(t, noon, "a")[0]
			if c.settle != nil {
				b.settle(t, c.settle(e))
			}
			var second sync.WaitGroup
			var passed atomic.Bool
			b.do(t, func(ctx context.Context, outbox wholeOutbox) error {
				_, err := c.first(ctx, outbox, e)
				second.Go(func() {
					defer passed.Store(true)
					err := b.try(func(ctx context.Context, outbox wholeOutbox) error {
						changed, err := c.second(ctx, outbox, e)
						if len(changed) > 0 {
							t.Errorf("changed %v", changed)
						}
						return err
					})
					if err != nil {
						t.Error(err)
					}
				})
				for b.lockWaits(t) == 0 && !passed.Load() { // the second session does not wait for the lock yet
				}
				return err
			})
			second.Wait()
			if got := b.row(t, "a").String(); got != c.want {
				t.Errorf("left is %s, want %s", got, c.want)
			}
		})
	}
}

func settled(ctx context.Context, outbox wholeOutbox, e domain.OutboxEntry) ([]domain.OutboxEntry, error) {
	_, err := outbox.Settle(ctx, []domain.Settlement{succeeds(e)})
	return nil, err
}

func withdrawn(ctx context.Context, outbox wholeOutbox, e domain.OutboxEntry) ([]domain.OutboxEntry, error) {
	return outbox.Withdraw(ctx, e.SubjectID)
}

func requeued(ctx context.Context, outbox wholeOutbox, e domain.OutboxEntry) ([]domain.OutboxEntry, error) {
	return outbox.Requeue(ctx, []string{e.EntryID})
}
