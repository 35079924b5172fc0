package porttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
)

// outboxFairPromises are the promises about a claim if more entries are due than its limit allows. The claim then
// divides its limit among the resolvers and operations.
var outboxFairPromises = []promise.Promise[StoreHarness]{
	that(outboxClaimSharesItsLimitAmongResolvers,
		"A claim gives each resolver an equal share of the limit, and distributes unused shares."),
	that(outboxClaimSharesItsLimitWithRetries, "A claim shares its limit between new entries and retries."),
	that(outboxClaimsWithALimitOfOneTakeTurns, "Claims with a limit of 1 alternate between new entries and retries."),
	that(outboxClaimKeepsToTheLimitOfAResolver, "A claim takes at most OutboxTarget.Limit entries of a resolver."),
	that(outboxClaimTakesEntriesDueSinceAnInstant,
		"A claim with DueFrom and DueUntil takes every entry that became due between these instants."),
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

func erases(resolver string) domain.OutboxTarget {
	return domain.OutboxTarget{Resolver: resolver, Operation: domain.OperationErase}
}

func ofCRM(e *domain.OutboxEntry) { e.Resolver, e.Ref.Kind = "crm", "crm" }

func outboxClaimSharesItsLimitAmongResolvers(t testing.TB, h StoreHarness) {
	b := h.box(t)
	b.enqueue(t, erasuresNamed(t, "d", 8, 0, nil)...)
	b.enqueue(t, erasuresNamed(t, "c", 3, time.Hour, ofCRM)...)
	for _, c := range []struct {
		limit int
		want  []string
	}{
		{4, []string{"d0", "d1", "c0", "c1"}},
		{8, []string{"d0", "d1", "d2", "d3", "d4", "c0", "c1", "c2"}}, // crm uses less than its share
		{1, []string{"d0"}},
	} {
		got := b.dueFor(t, c.limit, noon, erases("desk"), erases("crm"))
		expectEntries(t, fmt.Sprintf("up to %d for two resolvers: claimed", c.limit), got, c.want...)
	}
	due := b.dueFor(t, 1, noon, erases("crm"), erases("desk"))
	expectEntries(t, "one for two resolvers, crm first: claimed", due, "c0")
}

// withRetries returns a store with the retries r0 to r5 and the new entries n0 to n5. The retry r5 became due first,
// and r0 last.
func (h StoreHarness) withRetries(t testing.TB) box {
	t.Helper()
	b := h.box(t)
	for i, entry := range b.enqueueAndClaim(t, erasuresNamed(t, "r", 6, 0, nil)...) {
		b.settle(t, fails(entry, noon.Add(time.Hour-time.Duration(i)*time.Minute)))
	}
	b.enqueue(t, erasuresNamed(t, "n", 6, time.Hour, nil)...)
	return b
}

func outboxClaimSharesItsLimitWithRetries(t testing.TB, h StoreHarness) {
	b := h.withRetries(t)
	for _, c := range []struct {
		limit int
		after time.Duration
		want  []string
	}{
		{4, time.Hour, []string{"r4", "r5", "n0", "n1"}},
		{4, 0, []string{"n0", "n1", "n2", "n3"}}, // no retry is due yet
		{4, 55 * time.Minute, []string{"r5", "n0", "n1", "n2"}},
		{9, time.Hour, []string{"r1", "r2", "r3", "r4", "r5", "n0", "n1", "n2", "n3"}},
		{100, time.Hour, []string{"r0", "r1", "r2", "r3", "r4", "r5", "n0", "n1", "n2", "n3", "n4", "n5"}},
	} {
		got := b.dueFor(t, c.limit, noon.Add(c.after), erases("desk"))
		expectEntries(t, fmt.Sprintf("up to %d, after %v: claimed", c.limit, c.after), got, c.want...)
	}
}

func outboxClaimsWithALimitOfOneTakeTurns(t testing.TB, h StoreHarness) {
	b := h.withRetries(t)
	even, odd := noon.Add(2*time.Hour), noon.Add(2*time.Hour+time.Second)
	expectEntries(t, "one in an even second: claimed", b.dueFor(t, 1, even, erases("desk")), "r5") // the oldest retry
	expectEntries(t, "one in an odd second: claimed", b.dueFor(t, 1, odd, erases("desk")), "n0")   // the oldest new entry
}

func outboxClaimKeepsToTheLimitOfAResolver(t testing.TB, h StoreHarness) {
	b := h.withRetries(t)
	b.enqueue(t, erasuresNamed(t, "c", 4, 2*time.Hour, ofCRM)...)
	desk, rectify := erases("desk"), erases("desk")
	desk.Limit, rectify.Operation = 3, domain.OperationRectify
	rectified := toRectify(t, "x", subjectOf(t, "acme", "x"), 3*time.Hour)
	b.enqueue(t, rectified)
	at := noon.Add(2 * time.Hour)
	for _, limit := range []int{3, 100} {
		got := entryIDs(b.dueFor(t, limit, at, desk))
		assert(t, len(got) == 3, "up to %d, and 3 of the resolver: claimed are %v", limit, got)
	}
	got := entryIDs(b.dueFor(t, 100, at, desk, rectify, erases("crm")))
	ofDesk := slices.DeleteFunc(slices.Clone(got), func(id string) bool { return id[0] == 'c' })
	assert(t, len(ofDesk) == 3 && len(got) == 7,
		"3 of one resolver with two operations, and all of another: claimed are %v, want 3 and 4", got)
	desk.Limit = 1
	got = entryIDs(b.dueFor(t, 100, at, desk, rectify))
	assert(t, len(got) == 1, "one of the resolver: claimed are %v", got)
}

// OutboxTarget.DueFrom and DueUntil limit a claim to a period. The claim must return the entries that became due in
// this period, and may skip all other entries.
func outboxClaimTakesEntriesDueSinceAnInstant(t testing.TB, h StoreHarness) {
	b := h.withRetries(t)
	from := func(instant time.Time) domain.OutboxTarget {
		target := erases("desk")
		target.DueFrom = instant
		return target
	}
	for _, c := range []struct {
		from time.Time
		want []string
	}{
		{morning.Add(time.Hour), []string{"r0", "r5", "n0", "n5"}},
		{morning.Add(time.Hour + 5*time.Second), []string{"r0", "r5", "n5"}},
		{noon.Add(55 * time.Minute), []string{"r0", "r5"}},
		{noon.Add(time.Hour), []string{"r0"}},
	} {
		got := entryIDs(b.dueFor(t, 100, noon.Add(time.Hour), from(c.from)))
		for _, id := range c.want {
			assert(t, slices.Contains(got, id), "from %v on: claimed are %v, and not %s", c.from, got, id)
		}
	}
	for _, c := range []struct {
		from, until time.Time
		want        []string
	}{
		{morning.Add(time.Hour), morning.Add(time.Hour + 5*time.Second), []string{"n0", "n5"}},
		{morning.Add(time.Hour), noon.Add(55 * time.Minute), []string{"n0", "n5", "r5"}},
		{noon.Add(55 * time.Minute), noon.Add(time.Hour), []string{"r5", "r0"}},
		{time.Time{}, noon.Add(2 * time.Hour), []string{"r5", "r0", "n0", "n5"}},
	} {
		target := from(c.from)
		target.DueUntil = c.until
		got := entryIDs(b.dueFor(t, 100, noon.Add(time.Hour), target))
		for _, id := range c.want {
			assert(t, slices.Contains(got, id), "from %v until %v: claimed are %v, and not %s", c.from, c.until, got, id)
		}
	}
	got := entryIDs(b.dueFor(t, 100, noon.Add(time.Hour), from(time.Time{})))
	assert(t, len(got) == 12, "from no instant on: claimed are %v, want all", got)
}
