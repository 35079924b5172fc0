package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func (b box) requeue(t testing.TB, entryIDs ...string) []domain.OutboxEntry {
	t.Helper()
	return read(t, b.Store, func(ctx context.Context, session ports.Session) ([]domain.OutboxEntry, error) {
		return session.OutboxAdmin().Requeue(ctx, entryIDs)
	})
}

func outboxCountsHaveEveryStatus(t testing.TB, h StoreHarness) {
	b := h.box(t)
	want := map[domain.OutboxStatus]int64{}
	for _, status := range domain.OutboxStatuses() {
		want[status] = 0
	}
	b.expectCounts(t, want) // an empty outbox
	e := b.enqueueAndClaim(t, numbered(t, 11)...)
	b.settle(t, succeeds(e[0]), succeeds(e[1]), succeeds(e[2]), succeeds(e[3]), fails(e[4], noon), fails(e[5], noon),
		fails(e[6], noon), abandons(e[7]), abandons(e[8]), givesBack(e[9]))
	for i := range 4 {
		b.enqueue(t, toErase(t, "pending"+string(rune('0'+i)), e[0].SubjectID, 0))
	}
	want = map[domain.OutboxStatus]int64{
		domain.OutboxPending: 5, domain.OutboxInFlight: 1, domain.OutboxSucceeded: 4, domain.OutboxFailed: 3,
		domain.OutboxAbandoned: 2, domain.OutboxSpared: 0,
	}
	b.expectCounts(t, want)
}

// withAbandoned returns a store with entries in every status. The entries "a" to "h" are abandoned.
func (h StoreHarness) withAbandoned(t testing.TB) box {
	t.Helper()
	b := h.box(t)
	id := subjectOf(t, "acme", "7")
	// Some entries have the same EnqueuedAt. A page of Abandoned therefore ends between two entries that differ only in
	// their ids.
	e := b.enqueueAndClaim(t,
		toErase(t, "d", id, 0), toErase(t, "c", id, 0), toRectify(t, "b", id, 0), toErase(t, "a", id, 0),
		toErase(t, "h", id, time.Hour), toErase(t, "g", id, tick), toRectify(t, "f", id, tick), toErase(t, "e", id, tick),
		toErase(t, "succeeded", id, 0), toErase(t, "failed", id, 0), toErase(t, "in flight", id, 0))
	for _, entry := range e[:8] {
		b.settle(t, abandons(entry))
	}
	b.settle(t, succeeds(e[8]), fails(e[9], noon.Add(time.Hour)))
	b.enqueue(t, toErase(t, "pending", id, 0))
	return b
}

func outboxAbandonedEntriesComeByAge(t testing.TB, h StoreHarness) {
	b := h.withAbandoned(t)
	want := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	listed := b.abandoned(t, nil, 100)
	got := entryIDs(listed)
	must(t, slices.Equal(got, want), "abandoned are %v, want %v", got, want)
	for _, entry := range listed {
		assert(t, entry.Status == domain.OutboxAbandoned && entry.LastError != nil && *entry.LastError == "refused",
			"%s is listed as %s, or without its error", entry.EntryID, entry.Status)
	}
}

func outboxAbandonedEntriesComeInPages(t testing.TB, h StoreHarness) {
	b := h.withAbandoned(t)
	all := entryIDs(b.abandoned(t, nil, 100))
	for limit := 1; limit <= len(all)+1; limit++ {
		var after *domain.OutboxEntry
		for at := 0; ; at += limit {
			page := b.abandoned(t, after, limit)
			want := all[min(at, len(all)):min(at+limit, len(all))]
			if got := entryIDs(page); !slices.Equal(got, want) {
				t.Errorf("in pages of %d, after %d entries come %v, want %v", limit, at, got, want)
				break
			}
			if len(page) == 0 {
				break
			}
			after = &page[len(page)-1]
		}
	}
	expectEntries(t, "on a page of up to 0", b.abandoned(t, nil, 0))
}

func outboxRequeueMakesErasuresNew(t testing.TB, h StoreHarness) {
	b := h.box(t)
	id := subjectOf(t, "acme", "7")
	entries := []domain.OutboxEntry{toErase(t, "c", id, 0), toErase(t, "a", id, time.Hour), toErase(t, "b", id, time.Hour)}
	e := b.enqueueAndClaim(t, entries...)
	b.settle(t, abandons(e[0]), abandons(e[1]), abandons(e[2]))
	expectAll(t, "requeued", b.requeue(t, "a", "b", "c"), entries, func(*domain.OutboxEntry) {})
	// A later claim shows that the store has stored the values that Requeue returned.
	expectAll(t, "then claimed", b.claim(t, 10, noon), entries, func(e *domain.OutboxEntry) { makeInFlight(e, noon, 1) })
}

func outboxRequeueLeavesTheRestAlone(t testing.TB, h StoreHarness) {
	b := h.withAbandoned(t)
	before := b.counts(t)
	expectEntries(t, "of no entry, requeued", b.requeue(t))
	requeued := b.requeue(t, "succeeded", "failed", "in flight", "pending", "b", "f", "unknown", "g", "g")
	expectEntries(t, "requeued", requeued, "g")
	before[domain.OutboxAbandoned]--
	before[domain.OutboxPending]++
	b.expectCounts(t, before)
	expectEntries(t, "still abandoned", b.abandoned(t, nil, 100), "a", "b", "c", "d", "e", "f", "h")
}
