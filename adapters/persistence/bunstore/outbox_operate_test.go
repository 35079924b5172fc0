package bunstore_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func (b box) counts(t testing.TB) (counts map[domain.OutboxStatus]int64) {
	t.Helper()
	b.do(t, func(ctx context.Context, outbox wholeOutbox) (err error) {
		counts, err = outbox.Counts(ctx)
		return err
	})
	return counts
}

func (b box) abandoned(t testing.TB, after *domain.OutboxEntry, limit int) (found []domain.OutboxEntry) {
	t.Helper()
	b.do(t, func(ctx context.Context, outbox wholeOutbox) (err error) {
		found, err = outbox.Abandoned(ctx, after, limit)
		return err
	})
	return found
}

func (b box) requeue(t testing.TB, entryIDs ...string) (requeued []domain.OutboxEntry) {
	t.Helper()
	b.do(t, func(ctx context.Context, outbox wholeOutbox) (err error) {
		requeued, err = outbox.Requeue(ctx, entryIDs)
		return err
	})
	return requeued
}

func TestCountsHaveEveryStatus(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		want := map[domain.OutboxStatus]int64{
			"pending": 0, "in_flight": 0, "succeeded": 0, "failed": 0, "abandoned": 0, "spared": 0,
		}
		if got := b.counts(t); !maps.Equal(got, want) {
			t.Errorf("empty: got %v", got)
		}
		b.enqueue(t, numbered(t, 15)...)
		e := b.claim(t, noon, upTo(10)...)
		for i, entry := range e[:9] {
			switch {
			case i < 4:
				b.settle(t, succeeds(entry))
			case i < 7:
				b.settle(t, fails(entry, noon))
			default:
				b.settle(t, abandons(entry))
			}
		}
		want = map[domain.OutboxStatus]int64{
			"pending": 6, "in_flight": 1, "succeeded": 4, "failed": 3, "abandoned": 2, "spared": 0,
		}
		b.do(t, func(ctx context.Context, outbox wholeOutbox) error {
			must(t, outbox.Enqueue(ctx, toErase(t, "one more", "1", 0)))
			got, err := outbox.Counts(ctx)
			if !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			return err
		})
	})
}

func TestAbandonedEntriesAreListedByPages(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		// Several outbox entries have the same time, so that some pages end between two entries with the same time.
		for i, name := range []string{"h", "c", "b", "a", "g", "f", "e"} {
			b.enqueue(t, toErase(t, name, name, time.Duration(i/4)*time.Second))
		}
		b.enqueue(t, toErase(t, "d", "d", 0), toRectify(t, "i", "i", time.Hour), toErase(t, "0", "0", 0))
		want := []string{"a", "b", "c", "h", "e", "f", "g", "i"}
		var abandonments []domain.Settlement
		for _, entry := range b.claimOf(t, noon, want...) {
			abandonments = append(abandonments, abandons(entry))
		}
		b.settle(t, abandonments...)
		for limit := 1; limit < 10; limit++ {
			var got []string
			var after *domain.OutboxEntry
			for page := b.abandoned(t, nil, limit); len(page) > 0; page = b.abandoned(t, after, limit) {
				if len(page) > limit {
					t.Fatalf("a page of %d has %d", limit, len(page))
				}
				got, after = append(got, ids(page)...), &page[len(page)-1]
			}
			if !slices.Equal(got, want) {
				t.Errorf("in pages of %d: got %v, want %v", limit, got, want)
			}
		}
		first := b.abandoned(t, nil, 1)[0]
		if first.Status != domain.OutboxAbandoned || *first.LastError != "refused" || first.Attempts != 1 ||
			first.LeaseToken != nil || first.NextAttemptAt != nil || first.Ref.Value != "ref-a" {
			t.Errorf("got %+v", first)
		}
	})
}

func TestARequeuedErasureIsAsIfItHadNeverBeenTried(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		want := []domain.OutboxEntry{toErase(t, "b", "1", 0), toErase(t, "a", "1", time.Hour)}
		b.enqueue(t, want...)
		e := b.claimOf(t, noon, "a", "b")
		b.settle(t, abandons(e[0]), abandons(e[1]))
		if got := b.requeue(t, "a", "b"); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		if got := b.claim(t, morning, upTo(1)...); len(got) != 1 || got[0].EntryID != "b" || got[0].Attempts != 1 {
			t.Errorf("claimed %+v", got)
		}
	})
}

func TestOnlyAbandonedErasuresAreRequeued(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		names := []string{"abandoned", "rectification", "succeeded", "failed", "in flight"}
		for _, name := range names {
			if name == "rectification" {
				b.enqueue(t, toRectify(t, name, name, 0))
				continue
			}
			b.enqueue(t, toErase(t, name, name, 0))
		}
		e := b.claimOf(t, noon, names...)
		b.settle(t, abandons(e[0]), abandons(e[1]), succeeds(e[2]), fails(e[3], noon))
		b.enqueue(t, toErase(t, "pending", "1", 0))
		for _, name := range []string{"rectification", "succeeded", "failed", "in flight", "pending"} {
			b.wantUnchanged(t, name, func() {
				if got := b.requeue(t, name, "never enqueued"); len(got) > 0 {
					t.Errorf("requeued %v", got)
				}
			})
		}
		all := append(names, "pending", "abandoned")
		if got := ids(b.requeue(t, all...)); !slices.Equal(got, []string{"abandoned"}) {
			t.Errorf("requeued %v", got)
		}
		if got := b.requeue(t, all...); len(got) > 0 {
			t.Errorf("requeued once more: %v", got)
		}
		if got := b.requeue(t); len(got) > 0 {
			t.Errorf("requeued without being asked: %v", got)
		}
	})
}

func TestAnErasureCompletesAfterARequeue(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, toErase(t, "a", "1", 0), toErase(t, "b", "1", 0))
		e := b.claimOf(t, noon, "a", "b")
		if got := b.settle(t, abandons(e[0]), succeeds(e[1])); slices.Contains(got, completes) {
			t.Errorf("with an abandoned entry: %v", got)
		}
		b.requeue(t, "a")
		if got := b.settle(t, succeeds(e[0])); !slices.Equal(got, []domain.SettleResult{stale}) {
			t.Errorf("under the lease of before: %v", got)
		}
		again := b.claimOf(t, noon, "a")[0]
		if got := b.settle(t, succeeds(again)); !slices.Equal(got, []domain.SettleResult{completes}) {
			t.Errorf("the requeued entry: %v", got)
		}
	})
}

func TestPurgeRemovesOldEntriesThatSucceeded(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, numbered(t, 12)...) // one entry per second
		for i, entry := range b.claim(t, noon, upTo(11)...) {
			switch i {
			case 1:
				b.settle(t, fails(entry, noon))
			case 2:
				b.settle(t, abandons(entry))
			case 3: // this entry stays in flight
			default:
				b.settle(t, succeeds(entry))
			}
		}
		for _, c := range []struct {
			before time.Time
			limit  int
			want   int64
			left   []string
		}{
			{morning, 100, 0, []string{"e0000"}},
			{morning.Add(8 * time.Second), 2, 2, []string{"e0005", "e0006", "e0007", "e0008"}}, // the oldest entries
			{morning.Add(8 * time.Second), 100, 3, []string{"e0001", "e0002", "e0003", "e0008"}},
			{noon, 100, 3, []string{"e0001", "e0002", "e0003", "e0011"}},
			{noon, 100, 0, nil},
		} {
			b.do(t, func(ctx context.Context, outbox wholeOutbox) error {
				got, err := outbox.Purge(ctx, c.before, c.limit)
				if got != c.want {
					t.Errorf("purged %d, want %d", got, c.want)
				}
				return err
			})
			for _, id := range c.left {
				b.row(t, id) // fails if the row does not exist
			}
		}
		if got := b.counts(t); got["succeeded"] != 0 || got["pending"]+got["in_flight"]+got["failed"]+got["abandoned"] != 4 {
			t.Errorf("left are %v", got)
		}
	})
}
