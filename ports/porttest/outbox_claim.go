package porttest

import (
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func outboxClaimTakesDueEntries(t testing.TB, h StoreHarness) {
	b := h.box(t)
	e := b.enqueueAndClaim(t, numbered(t, 5)...)
	now := fails(e[1], noon)
	now.NextAttemptAt = nil
	b.settle(t, givesBack(e[0]), now, fails(e[2], noon.Add(time.Second)), fails(e[3], noon.Add(time.Hour)))
	b.enqueue(t, toErase(t, "pending", e[0].SubjectID, time.Hour))
	for _, c := range []struct {
		when string
		at   time.Time
		want []string
	}{
		{"at once", noon, []string{"e000", "e001", "pending"}},
		{"before the lease ends", noon.Add(lease / 2), []string{"e000", "e001", "e002", "pending"}},
		{"after the lease has ended", noon.Add(2 * lease), []string{"e000", "e001", "e002", "e004", "pending"}},
		{"much later", noon.Add(2 * time.Hour), []string{"e000", "e001", "e002", "e003", "e004", "pending"}},
	} {
		got := entryIDs(b.due(t, c.at))
		assert(t, slices.Equal(got, c.want), "%s: due are %v, want %v", c.when, got, c.want)
	}
}

func outboxClaimLeavesSucceededAndAbandonedEntries(t testing.TB, h StoreHarness) {
	b := h.box(t)
	entries := numbered(t, 3)
	e := b.enqueueAndClaim(t, append(entries, toRectify(t, "r", entries[0].SubjectID, 0))...)
	b.settle(t, succeeds(e[0]), abandons(e[1]), abandons(e[3]))
	expectEntries(t, "due", b.due(t, noon.Add(1000*time.Hour)), "e002")
}

func outboxClaimTakesAnEntryAtItsInstant(t testing.TB, h StoreHarness) {
	b := h.box(t)
	e := b.enqueueAndClaim(t, numbered(t, 2)...)
	next := noon.Add(time.Minute)
	b.settle(t, fails(e[0], next))
	for i, instant := range []time.Time{next, noon.Add(lease)} {
		name := e[i].EntryID
		before, then := entryIDs(b.due(t, instant.Add(-tick))), entryIDs(b.due(t, instant))
		assert(t, !slices.Contains(before, name), "%s is due a microsecond before its instant", name)
		assert(t, slices.Contains(then, name), "%s is not due at its instant", name)
	}
}

func outboxClaimTakesAnExpiredLease(t testing.TB, h StoreHarness) {
	b := h.box(t)
	entry := toRectify(t, "a", subjectOf(t, "acme", "7"), 0)
	b.enqueue(t, entry)
	at := noon
	for attempt := 1; attempt < 4; attempt++ { // each lease expires, because the entry is not settled
		expectAll(t, "claimed once the lease has ended", b.claim(t, 10, at), []domain.OutboxEntry{entry},
			func(e *domain.OutboxEntry) { makeInFlight(e, at, attempt) })
		at = at.Add(lease)
	}
}

// makeInFlight changes an entry as a claim at the given instant does.
func makeInFlight(e *domain.OutboxEntry, at time.Time, attempts int) {
	until, lease := at.Add(lease), token(at)
	e.Status, e.Attempts = domain.OutboxInFlight, attempts
	e.LastAttemptAt, e.NextAttemptAt, e.LeaseToken = &at, &until, &lease
}

func outboxClaimTakesTheOldestFirst(t testing.TB, h StoreHarness) {
	b := h.box(t)
	id := subjectOf(t, "acme", "7")
	for _, entry := range []domain.OutboxEntry{
		toErase(t, "d", id, time.Hour), toErase(t, "b", id, time.Second), toErase(t, "e", id, 0),
		toErase(t, "c", id, time.Second), toErase(t, "a", id, time.Second), toErase(t, "0", id, time.Second+tick),
	} {
		b.enqueue(t, entry)
	}
	for _, want := range [][]string{{"e"}, {"a", "b"}, {"c", "0", "d"}, {}} {
		got := entryIDs(b.claim(t, max(1, len(want)), noon))
		assert(t, slices.Equal(got, want), "claimed %v, want %v", got, want)
	}
}

func outboxClaimKeepsToTheLimit(t testing.TB, h StoreHarness) {
	b := h.box(t)
	b.enqueue(t, numbered(t, 12)...)
	left := 12
	for _, limit := range []int{1, 0, 7, 10, 10} {
		want := min(limit, left)
		got := len(b.claimFor(t, noon, erasing("desk", limit, limit)))
		assert(t, got == want, "up to %d of %d entries: %d were claimed", limit, left, got)
		left -= want
		pending := b.counts(t)[domain.OutboxPending]
		assert(t, pending == int64(left), "after a claim of up to %d, %d entries are pending, want %d", limit, pending, left)
	}
}

func outboxClaimMarksItsEntries(t testing.TB, h StoreHarness) {
	b := h.box(t)
	entries := []domain.OutboxEntry{
		toErase(t, "a", subjectOf(t, "acme", "7"), 0), toRectify(t, "b", subjectOf(t, "acme", "8"), time.Second),
	}
	claimed := b.enqueueAndClaim(t, entries...)
	expectAll(t, "claimed", claimed, entries, func(e *domain.OutboxEntry) { makeInFlight(e, noon, 1) })
	counts := b.counts(t)
	if counts[domain.OutboxInFlight] != 2 || counts[domain.OutboxPending] != 0 {
		t.Errorf("%d entries are in flight and %d pending, want 2 and 0",
			counts[domain.OutboxInFlight], counts[domain.OutboxPending])
	}
	// A later claim and a settlement show that the store has stored the values that the first claim returned.
	again := b.due(t, noon.Add(lease))
	assert(t, slices.Equal(entryIDs(again), []string{"a", "b"}) && again[0].Attempts == 2 && again[1].Attempts == 2,
		"once the lease has ended, another claim takes %v", entryIDs(again))
	got := b.settle(t, givesBack(claimed[0]), givesBack(claimed[1]))
	assert(t, !slices.Contains(got, stale), "an entry is not in flight under the token that it was claimed with")
}

func outboxClaimCanBeRolledBack(t testing.TB, h StoreHarness) {
	b := h.box(t)
	entries := numbered(t, 2)
	b.enqueue(t, entries...)
	expectEntries(t, "claimed before the rollback", b.due(t, noon), "e000", "e001")
	b.expectCount(t, "after the rollback", domain.OutboxPending, 2)
	expectAll(t, "claimed after the rollback", b.claim(t, 10, noon), entries,
		func(e *domain.OutboxEntry) { makeInFlight(e, noon, 1) })
}
