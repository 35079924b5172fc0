package bunstore_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
