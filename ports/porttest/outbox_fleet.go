package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func outboxClaimTakesEntriesOfItsTakes(t testing.TB, h StoreHarness) {
	b := h.box(t)
	id := subjectOf(t, "acme", "7")
	others := []domain.OutboxEntry{
		toErase(t, "to a new system", id, 0), toRectify(t, "the desk's correction", id, 1*time.Second),
		toErase(t, "a new operation", id, 2*time.Second),
	}
	others[0].Resolver, others[2].Operation = "crm", "forget"
	b.enqueue(t, others...)
	b.enqueue(t, toErase(t, "the desk's", id, 3*time.Second), toRectify(t, "the mail's correction", id, 4*time.Second))
	expectEntries(t, "claimed without takes", b.claimFor(t, noon))
	expectEntries(t, "claimed for a system that has no entry", b.claimFor(t, noon, erases("mail")))
	expectEntries(t, "claimed", b.claimFor(t, noon, erases("desk")), "the desk's")
	b.expectCount(t, "then", domain.OutboxPending, 4)
	rectify, forget := erases("desk"), erases("desk")
	rectify.Operation, forget.Operation = domain.OperationRectify, "forget"
	got := entryIDs(b.claimFor(t, noon, erases("desk"), rectify, erases("crm")))
	want := []string{"to a new system", "the desk's correction", "the mail's correction"}
	assert(t, slices.Equal(got, want), "claimed with more takes are %v, want %v", got, want)
	expectEntries(t, "claimed with a new operation", b.claimFor(t, noon, forget), "a new operation")
}

func outboxClaimTakesEntriesDelayedByAWrongClock(t testing.TB, h StoreHarness) {
	b := h.box(t)
	id := subjectOf(t, "acme", "7")
	ahead := noon.Add(90 * 24 * time.Hour)
	b.enqueue(t, toErase(t, "failed", id, 0), toErase(t, "leased", id, time.Second))
	e := b.claim(t, 2, ahead)
	b.settle(t, fails(e[0], ahead.Add(time.Minute)))
	b.enqueue(t, toErase(t, "asked to wait", id, 2*time.Second), toErase(t, "asked to wait longer", id, 3*time.Second))
	for _, entry := range b.claim(t, 10, noon.Add(-time.Minute)) {
		switch entry.EntryID {
		case "asked to wait":
			b.settle(t, fails(entry, noon.Add(domain.LongestWait)))
		case "asked to wait longer":
			b.settle(t, fails(entry, noon.Add(domain.LongestWait+time.Hour)))
		}
	}
	expectEntries(t, "due", b.due(t, noon), "asked to wait longer") // the other entries are claimed or are not due
	expectEntries(t, "claimed with a longer LongestWait", read(t, b.Store,
		func(ctx context.Context, session ports.Session) ([]domain.OutboxEntry, error) {
			longer := query(noon, erases("desk"))
			longer.LongestWait = 2 * domain.LongestWait
			return session.Outbox().Claim(ctx, longer)
		}))
	// The last attempt of this entry was at noon plus one hour, and its next attempt is a minute later. At noon, the last
	// attempt is in the future, so the clock that set both was ahead. A claim at noon must return the entry.
	b.enqueue(t, toErase(t, "tried in an hour", id, 4*time.Second))
	for _, entry := range b.claim(t, 10, noon.Add(time.Hour)) {
		if entry.EntryID == "tried in an hour" {
			b.settle(t, fails(entry, noon.Add(time.Hour+time.Minute)))
		}
	}
	due := entryIDs(b.due(t, noon))
	assert(t, slices.Contains(due, "tried in an hour"), "due are %v, without the entry that was tried in the future", due)
}

// The unreadable entry has no subject. Enqueue accepts such an entry, but Claim cannot decode it.
func outboxClaimAbandonsUnreadableEntries(t testing.TB, h StoreHarness) {
	b := h.box(t)
	id := subjectOf(t, "acme", "7")
	bad, good := toErase(t, "bad", id, 0), toErase(t, "good", id, time.Second)
	bad.SubjectID = domain.SubjectID{}
	b.enqueue(t, bad, good)
	claimed := b.claim(t, 10, noon)
	got := entryIDs(claimed)
	must(t, slices.Equal(got, []string{"bad", "good"}), "claimed are %v, want bad and good", got)
	listed := first(b.abandoned(t, nil, 10))
	for what, entry := range map[string]domain.OutboxEntry{"returned": claimed[0], "listed": listed} {
		if entry.EntryID != "bad" || entry.Status != domain.OutboxAbandoned || entry.LeaseToken != nil ||
			entry.LastError == nil || *entry.LastError != domain.LastErrorUnreadable || entry.Resolver != "desk" {
			t.Errorf("%s: %q is %s, want bad, abandoned as unreadable and without a lease", what, entry.EntryID, entry.Status)
		}
	}
	assert(t, claimed[1].Status == domain.OutboxInFlight, "good is %s, want in flight", claimed[1].Status)
	expectResult(t, "the good one", b.settle(t, succeeds(claimed[1])), completes)
	expectEntries(t, "requeued", b.requeue(t, "bad"), "bad")
}

func first(entries []domain.OutboxEntry) domain.OutboxEntry {
	if len(entries) == 0 {
		return domain.OutboxEntry{}
	}
	return entries[0]
}

func (b box) unclaimed(t testing.TB, before time.Time, limit int) []domain.OutboxEntry {
	t.Helper()
	return read(t, b.Store, func(ctx context.Context, session ports.Session) ([]domain.OutboxEntry, error) {
		return session.Outbox().Unclaimed(ctx, before, limit)
	})
}

func outboxUnclaimedEntriesAreMarkedOnce(t testing.TB, h StoreHarness) {
	b := h.box(t)
	e := b.enqueueAndClaim(t, numbered(t, 6)...)
	b.settle(t, succeeds(e[0]), abandons(e[1]), fails(e[2], noon.Add(time.Hour)), fails(e[3], noon), givesBack(e[4]))
	b.enqueue(t, toErase(t, "old", e[0].SubjectID, time.Minute), toErase(t, "young", e[0].SubjectID, 5*time.Hour))
	for _, want := range [][]string{{"e003"}, {"e004", "old"}, {}} {
		found := b.unclaimed(t, noon.Add(tick), max(1, len(want)))
		expectEntries(t, "unclaimed", found, want...)
		for _, entry := range found {
			marked := entry.LastError != nil && *entry.LastError == domain.LastErrorUnclaimed
			assert(t, marked && entry.Status != domain.OutboxAbandoned,
				"%s is returned as %s, or without its error", entry.EntryID, entry.Status)
		}
	}
	want := []string{"e003", "e004", "old", "young"}
	expectEntries(t, "then due", b.due(t, noon.Add(tick)), want...)
	counts := b.counts(t)
	assert(t, counts[domain.OutboxFailed] == 2 && counts[domain.OutboxPending] == 3 && counts[domain.OutboxInFlight] == 1,
		"counted are %v, want 2 failed, 3 pending, 1 in flight as before", counts)
	want = []string{"e002", "e005", "young"}
	expectEntries(t, "later, unclaimed", b.unclaimed(t, noon.Add(2*time.Hour), 10), want...)
}

func outboxIgnoresEmptyCalls(t testing.TB, h StoreHarness) {
	b := h.box(t)
	e := b.enqueueAndClaim(t, numbered(t, 3)...)
	b.settle(t, succeeds(e[0]), abandons(e[1]), givesBack(e[2]))
	before := b.counts(t)
	for _, limit := range []int{0, -1, -1000} {
		expectEntries(t, fmt.Sprintf("up to %d: claimed", limit), b.claim(t, limit, noon.Add(time.Hour)))
		expectEntries(t, fmt.Sprintf("up to %d: unclaimed", limit), b.unclaimed(t, noon.Add(time.Hour), limit))
		expectEntries(t, fmt.Sprintf("up to %d: abandoned", limit), b.abandoned(t, nil, limit))
		purged := b.purge(t, noon, limit)
		assert(t, purged == 0, "up to %d: purged %d", limit, purged)
	}
	b.settle(t)
	b.requeue(t)
	b.enqueue(t)
	b.expectCounts(t, before)
}

func outboxReadsDoNotCountAsWrites(t testing.TB, h StoreHarness) {
	b := h.box(t)
	do(t, b.Store, func(ctx context.Context, s ports.Session) error {
		return errors.Join(
			errOf(s.OutboxAdmin().Counts(ctx)), errOf(s.OutboxAdmin().Backlog(ctx)),
			errOf(s.OutboxAdmin().Abandoned(ctx, nil, 10)), errOf(s.Outbox().Settle(ctx, nil)),
			s.Subjects().Export(ctx, subject(t, "acme", 1), func(domain.ExportRecord) error { return nil }),
		)
	})
}

func outboxRequeueTakesAnyNumberOfIDs(t testing.TB, h StoreHarness) {
	b := h.box(t)
	e := b.enqueueAndClaim(t, numbered(t, 2)...)
	b.settle(t, abandons(e[0]), abandons(e[1]))
	ids := make([]string, 70_000) // more ids than a statement can have parameters
	for i := range ids {
		ids[i] = fmt.Sprint("unknown ", i)
	}
	ids[0], ids[69_999] = "e001", "e000"
	expectEntries(t, "requeued", b.requeue(t, ids...), "e000", "e001")
}
