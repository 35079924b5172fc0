package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func outboxFailureIsTriedAgainWhenDue(t testing.TB, h StoreHarness) {
	b := h.box(t)
	entry := toRectify(t, "a", subjectOf(t, "acme", "7"), 0)
	claimed := b.enqueueAndClaim(t, entry)
	next := noon.Add(time.Hour)
	expectResult(t, "a failure", b.settle(t, fails(claimed[0], next)), applied)
	b.expectCount(t, "then", domain.OutboxFailed, 1)
	due := b.due(t, next.Add(-tick))
	assert(t, len(due) == 0, "a failed entry is due before its next attempt")
	class := "timeout"
	again := b.claim(t, 10, next)
	expectAll(t, "due at its next attempt", again, []domain.OutboxEntry{entry}, func(e *domain.OutboxEntry) {
		makeInFlight(e, next, 2)
		e.LastError = &class
	})
}

func outboxUntriedEntryIsGivenBack(t testing.TB, h StoreHarness) {
	b := h.box(t)
	entries := []domain.OutboxEntry{
		toErase(t, "a", subjectOf(t, "acme", "7"), 0), toRectify(t, "b", subjectOf(t, "acme", "8"), time.Second),
	}
	e := b.enqueueAndClaim(t, entries...)
	got := b.settle(t, givesBack(e[0]), givesBack(e[1]))
	assert(t, slices.Equal(got, []domain.SettleResult{applied, applied}),
		"entries given back resulted in %v", namesOf(got))
	b.expectCount(t, "then", domain.OutboxPending, 2)
	expectAll(t, "claimed again", b.claim(t, 10, noon.Add(tick)), entries, func(e *domain.OutboxEntry) {
		makeInFlight(e, noon.Add(tick), 1)
	})
}

// The first settlement has an error and a next attempt although its status is pending. The second settlement has a next
// attempt although its status is abandoned. The store must ignore these values.
func outboxNextAttemptIsAFailures(t testing.TB, h StoreHarness) {
	b := h.box(t)
	e := b.enqueueAndClaim(t, numbered(t, 2)...)
	b.settle(t, fails(e[0], noon))
	failed := b.claim(t, 1, noon)
	must(t, len(failed) != 0, "a failed entry is not due at its next attempt")
	back, gone := fails(failed[0], noon.Add(time.Hour)), abandons(e[1])
	back.Status, gone.NextAttemptAt = domain.OutboxPending, back.NextAttemptAt
	b.settle(t, back, gone)
	again := b.claim(t, 1, noon)
	assert(t, len(again) != 0, "an entry that was given back is not due immediately")
	for _, entry := range again {
		assert(t, entry.LastError == nil, "an entry that was given back has an error")
	}
	for _, entry := range b.abandoned(t, nil, 10) {
		assert(t, entry.NextAttemptAt == nil, "an abandoned entry has a next attempt")
	}
}

func outboxAbandonedErasureKeepsItsRef(t testing.TB, h StoreHarness) {
	b := h.box(t)
	entry := toErase(t, "a", subjectOf(t, "acme", "7"), 0)
	entry.Ref.Keys = []string{"a", "b"}
	expectResult(t, "an abandonment", b.settle(t, abandons(b.enqueueAndClaim(t, entry)[0])), applied)
	expectAll(t, "abandoned", b.abandoned(t, nil, 10), []domain.OutboxEntry{entry}, makeAbandoned)
}

// makeAbandoned changes an entry to the state that it has after the external system has refused its first attempt.
func makeAbandoned(e *domain.OutboxEntry) {
	at, class := noon, "refused"
	e.Status, e.Attempts, e.LastAttemptAt, e.LastError = domain.OutboxAbandoned, 1, &at, &class
}

func outboxAbandonedRectificationIsForgotten(t testing.TB, h StoreHarness) {
	b := h.box(t)
	entry := toRectify(t, "a", subjectOf(t, "acme", "7"), 0)
	b.settle(t, abandons(b.enqueueAndClaim(t, entry)[0]))
	listed := b.abandoned(t, nil, 10)
	must(t, len(listed) == 1, "%d entries are abandoned, want 1", len(listed))
	expectForgotten(t, listed[0])
	listed[0].Ref = entry.Ref
	expect(t, listed[0], entry, func(e *domain.OutboxEntry) { makeAbandoned(e); e.Corrections = nil })
}

// expectForgotten checks that an entry has no ref and no corrections.
func expectForgotten(t testing.TB, entry domain.OutboxEntry) {
	t.Helper()
	ref := entry.Ref
	assert(t, ref.Value == "" && len(ref.Extra)+len(ref.Keys) == 0, "%s still has its ref", entry.EntryID)
	assert(t, len(entry.Corrections) == 0, "%s still has its corrections", entry.EntryID)
}

func outboxSettlementEndsTheLease(t testing.TB, h StoreHarness) {
	b := h.box(t)
	e := b.enqueueAndClaim(t, numbered(t, 4)...)
	settlements := []domain.Settlement{succeeds(e[0]), fails(e[1], noon.Add(time.Hour)), abandons(e[2]), givesBack(e[3])}
	got := b.settle(t, settlements...)
	must(t, !slices.Contains(got, stale), "the settlements resulted in %v", namesOf(got))
	for i, result := range b.settle(t, settlements...) {
		assert(t, result == stale, "settled as %s for the second time, an entry resulted in %v",
			settlements[i].Status, namesOf([]domain.SettleResult{result}))
	}
	listed := b.abandoned(t, nil, 10)
	assert(t, len(listed) == 1 && listed[0].LeaseToken == nil, "an abandoned entry still has a lease token")
}

func outboxSettlementUnderALostLeaseIsStale(t testing.TB, h StoreHarness) {
	b := h.box(t)
	entry, other := toErase(t, "a", subjectOf(t, "acme", "7"), 0), toErase(t, "b", subjectOf(t, "acme", "8"), time.Hour)
	first := b.enqueueAndClaim(t, entry)[0]
	b.claim(t, 10, noon.Add(lease)) // by another worker, after the lease has expired
	b.enqueue(t, other)
	none, empty, unknown := first, first, first
	none.LeaseToken, empty.LeaseToken = nil, new(string)
	unknown.EntryID = "unknown"
	waiting := other
	waiting.LeaseToken = new(string)
	for _, c := range []struct {
		name string
		lost domain.OutboxEntry
	}{
		{"under an earlier lease", first},
		{"without a token", none},
		{"with an empty token", empty},
		{"of an entry that there is not", unknown},
		{"of an entry that is not claimed", other},
		{"of an entry that is not claimed, with an empty token", waiting},
	} {
		for _, settlement := range []domain.Settlement{
			succeeds(c.lost), fails(c.lost, noon), abandons(c.lost), givesBack(c.lost),
		} {
			got := b.settle(t, settlement)
			assert(t, got[0] == stale, "a settlement %s as %s resulted in %v", c.name, settlement.Status, namesOf(got))
		}
	}
	expectEntries(t, "before the lease has ended, due", b.due(t, noon.Add(2*lease-tick)), "b")
	due, attempts := b.due(t, noon.Add(2*lease)), map[string]int{"a": 3, "b": 1}
	expectAll(t, "due after the lease", due, []domain.OutboxEntry{entry, other}, func(e *domain.OutboxEntry) {
		makeInFlight(e, noon.Add(2*lease), attempts[e.EntryID])
	})
}

func outboxResultsAreInOrder(t testing.TB, h StoreHarness) {
	b := h.box(t)
	zoe, yan, tenant := subjectOf(t, "acme", "7"), subjectOf(t, "acme", "8"), subjectOf(t, "acme")
	e := b.enqueueAndClaim(t,
		toErase(t, "a", zoe, 0), toErase(t, "b", zoe, 1*tick), toRectify(t, "c", zoe, 2*tick),
		toRectify(t, "d", yan, 3*tick), toErase(t, "e", yan, 4*tick), toErase(t, "f", tenant, 5*tick),
		toErase(t, "g", subjectOf(t, "acme", "7", "7"), 6*tick))
	lost := e[0]
	lost.LeaseToken = &lost.EntryID
	got := b.settle(t, succeeds(e[6]), abandons(e[5]), succeeds(e[4]), fails(e[3], noon),
		succeeds(e[2]), succeeds(e[1]), succeeds(lost))
	want := []domain.SettleResult{completes, applied, completes, applied, completes, applied, stale}
	assert(t, slices.Equal(got, want), "a batch resulted in %v, want %v", namesOf(got), namesOf(want))
	if got := b.settle(t); len(got) != 0 {
		t.Errorf("an empty call resulted in %v", namesOf(got))
	}
}

func outboxEntryIsSettledOnceInACall(t testing.TB, h StoreHarness) {
	b := h.box(t)
	e := b.enqueueAndClaim(t, numbered(t, 2)...)
	got := b.settle(t, abandons(e[0]), succeeds(e[1]), succeeds(e[0]), abandons(e[1]))
	want := []domain.SettleResult{applied, completes, stale, stale}
	assert(t, slices.Equal(got, want),
		"two settlements of each entry resulted in %v, want %v", namesOf(got), namesOf(want))
	if listed := entryIDs(b.abandoned(t, nil, 10)); !slices.Equal(listed, []string{"e000"}) {
		t.Errorf("abandoned are %v, want e000, which its first settlement abandoned", listed)
	}
	b.expectCount(t, "then", domain.OutboxSucceeded, 1)
}

func outboxSettlementCanBeRolledBack(t testing.TB, h StoreHarness) {
	b := h.box(t)
	claimed := b.enqueueAndClaim(t, numbered(t, 1)...)
	undo(t, b.Store, func(ctx context.Context, s ports.Session) error {
		return errOf(s.Outbox().Settle(ctx, []domain.Settlement{succeeds(claimed[0])}))
	})
	b.expectCount(t, "after the rollback", domain.OutboxInFlight, 1)
	expectResult(t, "settled again after the rollback, the entry", b.settle(t, succeeds(claimed[0])), completes)
}

func outboxSuccessIsForgotten(t testing.TB, h StoreHarness) {
	b := h.box(t)
	requireHook(t, b.Entries != nil, "Entries")
	id := subjectOf(t, "acme", "7")
	e := b.enqueueAndClaim(t, toErase(t, "a", id, 0), toRectify(t, "b", id, time.Second))
	stored := b.Entries(t)
	assert(t, len(stored) == 2 && stored[0].Ref.Value != "" && len(stored[1].Corrections) != 0,
		"Store.Entries does not show what is stored of entries in flight")
	b.settle(t, succeeds(e[0]), succeeds(e[1]))
	stored = b.Entries(t)
	assert(t, len(stored) == 2, "%d entries are stored once two have succeeded, want 2", len(stored))
	for _, entry := range stored {
		assert(t, entry.Status == domain.OutboxSucceeded && entry.LeaseToken == nil && entry.LastError == nil,
			"%s is stored as %s, or with a lease or an error", entry.EntryID, entry.Status)
		expectForgotten(t, entry)
	}
}

func outboxSparedEntryWaitsForAnOperator(t testing.TB, h StoreHarness) {
	b := h.box(t)
	zoe := subjectOf(t, "acme", "7")
	e := b.enqueueAndClaim(t, toErase(t, "a", zoe, 0), toErase(t, "b", zoe, tick), toRectify(t, "c", zoe, 0),
		toErase(t, "d", subjectOf(t, "acme", "8"), time.Second))
	got := b.settle(t, succeeds(e[0]), spares(e[1]), spares(e[2]), abandons(e[3]))
	assert(t, slices.Equal(got, []domain.SettleResult{applied, completes, completes, applied}),
		"spared entries resulted in %v", namesOf(got))
	listed := b.abandoned(t, nil, 10)
	must(t, slices.Equal(entryIDs(listed), []string{"c", "b", "d"}),
		"listed are %v, want the two spared entries and the abandoned one", entryIDs(listed))
	for _, entry := range listed[:2] {
		assert(t, entry.Status == domain.OutboxSpared && entry.LeaseToken == nil && entry.LastError == nil,
			"%s is listed as %s", entry.EntryID, entry.Status)
		expectForgotten(t, entry)
	}
	requeued, removed := b.requeue(t, "b", "c"), b.purge(t, noon.Add(1000*time.Hour), 10)
	assert(t, len(requeued) == 0 && removed == 1, "%d entries were requeued and %d removed", len(requeued), removed)
	requeued = read(t, b.Store, func(ctx context.Context, session ports.Session) ([]domain.OutboxEntry, error) {
		return session.OutboxAdmin().RequeueMatching(ctx, domain.OutboxFilter{}, 1)
	})
	expectEntries(t, "requeued", requeued, "d")
	b.expectCount(t, "then", domain.OutboxSpared, 2)
	backlog := read(t, b.Store, func(ctx context.Context, session ports.Session) ([]domain.OutboxBacklog, error) {
		return session.OutboxAdmin().Backlog(ctx)
	})
	assert(t, len(backlog) == 1 && backlog[0].Counts[domain.OutboxSpared] == 2,
		"the backlog is %+v", backlog)
	discarded := b.discard(t, "b", "c")
	assert(t, len(discarded) == 2 && !discarded[0].Completes && !discarded[1].Completes, "discarded are %+v", discarded)
	b.expectCount(t, "in the end", domain.OutboxSucceeded, 2)
}
