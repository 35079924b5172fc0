package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func (b box) withdraw(t testing.TB, id domain.SubjectID) []domain.OutboxEntry {
	t.Helper()
	return read(t, b.Store, func(ctx context.Context, session ports.Session) ([]domain.OutboxEntry, error) {
		return session.Outbox().Withdraw(ctx, id)
	})
}

// withRectifications returns a store with rectifications of the subject in every status. It also returns the
// rectification that is in flight.
func (h StoreHarness) withRectifications(t testing.TB, id domain.SubjectID) (b box, leased domain.OutboxEntry) {
	t.Helper()
	b = h.box(t)
	e := b.enqueueAndClaim(t,
		toRectify(t, "succeeded", id, 0), toRectify(t, "failed", id, time.Second), toRectify(t, "abandoned", id, 0),
		toRectify(t, "in flight", id, time.Hour))
	b.settle(t, succeeds(e[0]), fails(e[1], noon.Add(time.Hour)), abandons(e[2]))
	b.enqueue(t, toRectify(t, "pending", id, time.Second))
	return b, e[3]
}

func outboxWithdrawAbandonsRectifications(t testing.TB, h StoreHarness) {
	id := subjectOf(t, "acme", "7")
	b, _ := h.withRectifications(t, id)
	want := []string{"failed", "pending", "in flight"}
	withdrawn := b.withdraw(t, id)
	expectEntries(t, "withdrawn", withdrawn, want...)
	listed := slices.DeleteFunc(b.abandoned(t, nil, 10), func(e domain.OutboxEntry) bool {
		return e.EntryID == "abandoned"
	})
	expectEntries(t, "then abandoned", listed, want...)
	for _, entry := range slices.Concat(withdrawn, listed) {
		assert(t, entry.Status == domain.OutboxAbandoned && entry.LeaseToken == nil,
			"%s is %s, or still has its lease", entry.EntryID, entry.Status)
		expectForgotten(t, entry)
	}
	expectEntries(t, "still to be carried out", b.due(t, noon.Add(1000*time.Hour)))
	expectEntries(t, "withdrawn again", b.withdraw(t, id))
}

func outboxWithdrawLeavesOthersAlone(t testing.TB, h StoreHarness) {
	id := subjectOf(t, "acme", "7")
	b, _ := h.withRectifications(t, id)
	others := []domain.OutboxEntry{
		toErase(t, "an erasure of the subject", id, 0),
		toRectify(t, "another number", subjectOf(t, "acme", "77"), 1*tick),
		toRectify(t, "another tenant", subjectOf(t, "acmf", "7"), 2*tick),
		toRectify(t, "the tenant", subjectOf(t, "acme"), 3*tick),
		toRectify(t, "longer", subjectOf(t, "acme", "7", "7"), 4*tick),
	}
	b.enqueue(t, others...)
	before := b.counts(t)
	b.withdraw(t, id)
	b.expectCount(t, "as before,", domain.OutboxSucceeded, before[domain.OutboxSucceeded])
	expectAll(t, "left", b.claim(t, 100, noon), others, func(e *domain.OutboxEntry) { makeInFlight(e, noon, 1) })
}

func outboxWithdrawnEntryHasLostItsLease(t testing.TB, h StoreHarness) {
	id := subjectOf(t, "acme", "7")
	b, leased := h.withRectifications(t, id)
	b.withdraw(t, id)
	for _, settlement := range []domain.Settlement{
		succeeds(leased), fails(leased, noon), givesBack(leased), abandons(leased),
	} {
		got := b.settle(t, settlement)
		assert(t, got[0] == stale, "the settlement %s of a withdrawn entry resulted in %v", settlement.Status, namesOf(got))
	}
	listed := entryIDs(b.abandoned(t, nil, 10))
	assert(t, slices.Contains(listed, "in flight"), "a settlement changed the status of a withdrawn entry")
}

func (b box) purge(t testing.TB, before time.Time, limit int) int64 {
	t.Helper()
	return read(t, b.Store, func(ctx context.Context, session ports.Session) (int64, error) {
		return session.OutboxAdmin().Purge(ctx, before, limit)
	})
}

func outboxPurgeRemovesSucceededEntries(t testing.TB, h StoreHarness) {
	b := h.box(t)
	e := b.enqueueAndClaim(t, numbered(t, 3)...)
	b.settle(t, succeeds(e[0]), succeeds(e[1]), succeeds(e[2]))
	removed := b.purge(t, e[1].EnqueuedAt.Add(tick), 100)
	assert(t, removed == 2, "%d entries were removed, want 2", removed)
	b.expectCount(t, "then", domain.OutboxSucceeded, 1)
	again := toErase(t, e[0].EntryID, e[0].SubjectID, 0)
	err := b.try(t, func(ctx context.Context, outbox ports.Outbox) error { return outbox.Enqueue(ctx, again) })
	assert(t, err == nil, "the id of an entry that was removed cannot be used: %v", err)
}

func outboxPurgeLeavesTheRestAlone(t testing.TB, h StoreHarness) {
	b := h.withAbandoned(t) // exactly one entry has succeeded
	before := b.counts(t)
	removed := b.purge(t, morning, 100)
	assert(t, removed == 0, "%d entries were removed that were enqueued at the instant or later", removed)
	assert(t, b.counts(t)[domain.OutboxSucceeded] == before[domain.OutboxSucceeded],
		"an entry is gone that was not enqueued before the instant")
	removed, want := b.purge(t, noon.Add(1000*time.Hour), 100), before[domain.OutboxSucceeded]
	assert(t, removed == want, "%d entries were removed, want %d", removed, want)
	before[domain.OutboxSucceeded] = 0
	b.expectCounts(t, before)
}

func outboxPurgeKeepsToTheLimit(t testing.TB, h StoreHarness) {
	b := h.box(t)
	left := 5
	var settlements []domain.Settlement
	for _, entry := range b.enqueueAndClaim(t, numbered(t, left)...) {
		settlements = append(settlements, succeeds(entry))
	}
	b.settle(t, settlements...)
	for _, limit := range []int{0, 2, 1, 10, 10} {
		want := min(limit, left)
		removed := b.purge(t, noon, limit)
		assert(t, removed == int64(want), "up to %d of %d entries: %d were removed", limit, left, removed)
		left -= want
		counted := b.counts(t)[domain.OutboxSucceeded]
		assert(t, counted == int64(left), "after a purge of up to %d, %d entries are left, want %d", limit, counted, left)
	}
}
