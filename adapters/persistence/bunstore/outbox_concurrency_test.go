package bunstore_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestAClaimDoesNotWaitForEntriesThatOthersHold(t *testing.T) {
	t.Parallel()
	b := newBox(t, databases.PostgreSQL(t))
	b.enqueue(t, numbered(t, 6)...)
	b.enqueue(t, toErase(t, "z", "s0000", 0)) // of the subject of the first entry
	b.do(t, func(ctx context.Context, outbox wholeOutbox) error {
		first, err := outbox.Claim(ctx, query(noon, "token", upTo(2)...))
		must(t, err)
		if got := ids(first); !slices.Equal(got, []string{"e0000", "z"}) {
			t.Errorf("first: got %v", got)
		}
		second := b.claim(t, noon, upTo(2)...) // while the first session has not committed
		if got := ids(second); !slices.Equal(got, []string{"e0001", "e0002"}) {
			t.Errorf("second: got %v", got)
		}
		return nil
	})
	expired := noon.Add(lease)
	b.do(t, func(ctx context.Context, outbox wholeOutbox) error {
		_, err := outbox.Settle(ctx, []domain.Settlement{succeeds(numbered(t, 1)[0])}) // locks all entries of the subject
		must(t, err)
		got, want := ids(b.claim(t, expired, upTo(10)...)), []string{"e0001", "e0002", "e0003", "e0004", "e0005"}
		if !slices.Equal(got, want) {
			t.Errorf("during a settlement: got %v", got)
		}
		return nil
	})
}

// lockWaits returns the number of server processes that wait for a lock.
func (b box) lockWaits(t testing.TB) int {
	t.Helper()
	var n int
	must(t, b.db.NewRaw("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"+
		" AND wait_event_type = 'Lock'").
		Scan(context.Background(), &n))
	return n
}

// Concurrent sessions settle the outbox entries of many subjects in any order. For each operation, exactly one session
// must report that the operation is complete. All sessions take their locks in the same order, so that no session needs
// a retry because of a deadlock.
func TestExactlyOneOfTheSessionsThatSettleASubjectCompletesIt(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		rounds, subjects := 40, 8
		if db.Dialect().Name() == dialect.SQLite {
			rounds = 5 // SQLite runs the sessions one after the other
		}
		b := newBox(t, db)
		for round := range rounds {
			sessions := make([][]domain.Settlement, 4)
			var names []string
			var entries []domain.OutboxEntry
			for i := range subjects {
				of := strconv.Itoa(round*subjects + i)
				for j := range sessions {
					name := fmt.Sprintf("%d of %s", (i+j+round)%4, of)
					names, entries = append(names, name), append(entries, toErase(t, name, of, 0))
				}
			}
			b.enqueue(t, entries...)
			for i, entry := range b.claimOf(t, noon, names...) {
				of := &sessions[i%len(sessions)]
				*of = append(*of, succeeds(entry))
			}
			slices.Reverse(sessions[1])
			slices.Reverse(sessions[3])
			var completions, runs atomic.Int64
			start := make(chan struct{})
			var settling sync.WaitGroup
			for _, settlements := range sessions {
				settling.Go(func() {
					<-start
					var results []domain.SettleResult
					err := b.try(func(ctx context.Context, outbox wholeOutbox) (err error) {
						runs.Add(1)
						results, err = outbox.Settle(ctx, settlements)
						return err
					})
					if err != nil || slices.Contains(results, domain.SettleResult{Stale: true}) {
						t.Errorf("got %v, %v", results, err)
					}
					for _, result := range results {
						if result.Completes {
							completions.Add(1)
						}
					}
				})
			}
			close(start)
			settling.Wait()
			if completions.Load() != int64(subjects) || runs.Load() != int64(len(sessions)) {
				t.Fatalf("round %d: %d of %d subjects were completed, in %d runs of %d sessions",
					round, completions.Load(), subjects, runs.Load(), len(sessions))
			}
		}
	})
}
