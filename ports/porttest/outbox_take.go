package porttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
)

// outboxTakePromises are the promises about a claim if more entries are due than its takes permit.
var outboxTakePromises = []promise.Promise[StoreHarness]{
	that(outboxClaimTakesSoManyOfEach,
		"A claim takes at most Take.Fresh new entries and Take.Retries retries of each take."),
	that(outboxClaimTakesTheOldestOfEach,
		"A claim takes the oldest new entries of a take, and the retries that have been due the longest."),
	that(outboxClaimTakesEntriesInTurn, "A claim takes new entries in the order of their turns."),
	that(outboxClaimCountsReleasedEntriesAsNew, "An entry that was settled as pending counts as new."),
	that(outboxClaimTakesPostponedEntriesLast,
		"A claim takes entries that a wrong clock has postponed after the other retries."),
}

// erasuresNamed returns n erasures whose ids are the name followed by a number. The first erasure is enqueued at
// morning.Add(from). Each following erasure is enqueued a second later.
func erasuresNamed(
	t testing.TB, name string, n int, from time.Duration, fn func(*domain.OutboxEntry),
) []domain.OutboxEntry {
	t.Helper()
	entries := make([]domain.OutboxEntry, n)
	for i := range entries {
		number := fmt.Sprint(i)
		entries[i] = toErase(t, name+number, subjectOf(t, "acme", name+number), from+time.Duration(i)*time.Second)
		if fn != nil {
			fn(&entries[i])
		}
	}
	return entries
}

// erases returns a take of erasures that is larger than the outbox of any case.
func erases(resolver string) domain.Take { return erasing(resolver, 100, 100) }

func erasing(resolver string, fresh, retries int) domain.Take {
	return domain.Take{Resolver: resolver, Operation: domain.OperationErase, Fresh: fresh, Retries: retries}
}

func ofCRM(e *domain.OutboxEntry) { e.Resolver, e.Ref.Kind = "crm", "crm" }

// withRetries returns a store with the retries r0 to r5 and the new entries n0 to n5. The retry r5 became due first,
// and r0 last, an hour after noon.
func (h StoreHarness) withRetries(t testing.TB) box {
	t.Helper()
	b := h.box(t)
	for i, entry := range b.enqueueAndClaim(t, erasuresNamed(t, "r", 6, 0, nil)...) {
		b.settle(t, fails(entry, noon.Add(time.Hour-time.Duration(i)*time.Minute)))
	}
	b.enqueue(t, erasuresNamed(t, "n", 6, time.Hour, nil)...)
	return b
}

func outboxClaimTakesSoManyOfEach(t testing.TB, h StoreHarness) {
	b := h.withRetries(t)
	b.enqueue(t, erasuresNamed(t, "c", 4, 2*time.Hour, ofCRM)...)
	b.enqueue(t, toRectify(t, "x", subjectOf(t, "acme", "x"), 3*time.Hour))
	at := noon.Add(2 * time.Hour)
	rectifying := erasing("desk", 5, 5)
	rectifying.Operation = domain.OperationRectify
	for _, c := range []struct {
		takes []domain.Take
		want  []string
	}{
		{[]domain.Take{erasing("desk", 2, 3)}, []string{"r3", "r4", "r5", "n0", "n1"}},
		{[]domain.Take{erasing("desk", 0, 2)}, []string{"r4", "r5"}},
		{[]domain.Take{erasing("desk", 2, 0)}, []string{"n0", "n1"}},
		{[]domain.Take{erasing("desk", -1, -1)}, []string{}},
		{[]domain.Take{erasing("desk", 100, 1)}, []string{"r5", "n0", "n1", "n2", "n3", "n4", "n5"}},
		{[]domain.Take{erasing("desk", 1, 1), erasing("crm", 2, 100)}, []string{"r5", "n0", "c0", "c1"}},
		{[]domain.Take{erasing("crm", 1, 1), rectifying}, []string{"c0", "x"}},
	} {
		expectEntries(t, fmt.Sprintf("with the takes %v: claimed", c.takes), b.dueFor(t, at, c.takes...), c.want...)
	}
}

func outboxClaimTakesTheOldestOfEach(t testing.TB, h StoreHarness) {
	b := h.withRetries(t)
	for _, c := range []struct {
		after          time.Duration
		fresh, retries int
		want           []string
	}{
		{time.Hour, 2, 2, []string{"r4", "r5", "n0", "n1"}},
		{0, 4, 4, []string{"n0", "n1", "n2", "n3"}}, // no retry is due yet
		{55 * time.Minute, 3, 3, []string{"r5", "n0", "n1", "n2"}},
		{time.Hour, 4, 5, []string{"r1", "r2", "r3", "r4", "r5", "n0", "n1", "n2", "n3"}},
		{time.Hour, 100, 100, []string{"r0", "r1", "r2", "r3", "r4", "r5", "n0", "n1", "n2", "n3", "n4", "n5"}},
	} {
		got := b.dueFor(t, noon.Add(c.after), erasing("desk", c.fresh, c.retries))
		expectEntries(t, fmt.Sprintf("%d and %d, after %v: claimed", c.fresh, c.retries, c.after), got, c.want...)
	}
}

func outboxClaimTakesEntriesInTurn(t testing.TB, h StoreHarness) {
	b := h.box(t)
	many, other := erasuresNamed(t, "m", 4, 0, nil), toErase(t, "other", subjectOf(t, "acme", "other"), 15*time.Minute)
	for i := range many {
		many[i].SubjectID = subjectOf(t, "acme", "m")
		if i > 0 {
			many[i].TurnAt = morning.Add(time.Duration(10*i) * time.Minute)
		}
	}
	b.enqueue(t, append(many, other)...)
	for n, want := range []string{"m0", "m1", "other", "m2"} {
		got := b.dueFor(t, noon, erasing("desk", n+1, 0))
		if !slices.ContainsFunc(got, func(e domain.OutboxEntry) bool { return e.EntryID == want }) {
			t.Errorf("a claim of %d new entries took none with the id %s", n+1, want)
		}
	}
}

func outboxClaimCountsReleasedEntriesAsNew(t testing.TB, h StoreHarness) {
	b := h.withRetries(t)
	at := noon.Add(2 * time.Hour)
	b.settle(t, givesBack(first(b.claimFor(t, at, erasing("desk", 0, 1)))))
	expectEntries(t, "one new entry: claimed", b.dueFor(t, at, erasing("desk", 1, 0)), "r5")
	expectEntries(t, "one retry: claimed", b.dueFor(t, at, erasing("desk", 0, 1)), "r4")
}

func outboxClaimTakesPostponedEntriesLast(t testing.TB, h StoreHarness) {
	b := h.withRetries(t)
	ahead := noon.Add(90 * 24 * time.Hour)
	b.settle(t, fails(first(b.claimFor(t, ahead, erasing("desk", 1, 0))), ahead.Add(time.Minute))) // n0
	at := noon.Add(time.Hour)
	for _, entry := range b.claimFor(t, at.Add(lease+time.Minute), erasing("desk", 1, 0)) { // n1
		b.settle(t, fails(entry, at.Add(time.Minute)))
	}
	expectEntries(t, "six retries: claimed", b.dueFor(t, at, erasing("desk", 0, 6)), "r0", "r1", "r2", "r3", "r4", "r5")
	expectEntries(t, "eight retries: claimed", b.dueFor(t, at, erasing("desk", 0, 8)),
		"r0", "r1", "r2", "r3", "r4", "r5", "n0", "n1")
}
