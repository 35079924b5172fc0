package porttest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// The cases of the outbox tell the time themselves: entries are enqueued from morning on and claimed from noon on.
var morning = noon.Add(-4 * time.Hour)

const (
	lease = 5 * time.Minute
	tick  = time.Microsecond // the smallest difference between two instants
)

// box is an open store, used through its outbox.
type box struct{ Store }

func (h StoreHarness) box(t testing.TB) box {
	t.Helper()
	return box{h.open(t)}
}

// do gives fn the outbox in a session of its own, which must not fail.
func (b box) do(t testing.TB, fn func(context.Context, ports.Outbox) error) {
	t.Helper()
	do(t, b.Store, func(ctx context.Context, s ports.Session) error { return fn(ctx, s.Outbox()) })
}

func (b box) try(t testing.TB, fn func(context.Context, ports.Outbox) error) error {
	return try(t, b.Store, func(ctx context.Context, s ports.Session) error { return fn(ctx, s.Outbox()) })
}

// toErase is an entry as an erasure enqueues it, so long after the morning began.
func toErase(t testing.TB, entryID string, of domain.SubjectID, after time.Duration) domain.OutboxEntry {
	t.Helper()
	return domain.OutboxEntry{
		EntryID: entryID, SubjectID: of, Resolver: "desk", Operation: domain.OperationErase,
		Ref:    domain.SubjectRef{Kind: "desk", Value: "contact of " + entryID, Extra: map[string]string{"region": "eu"}},
		Status: domain.OutboxPending, EnqueuedAt: morning.Add(after),
	}
}

func toRectify(t testing.TB, entryID string, of domain.SubjectID, after time.Duration) domain.OutboxEntry {
	t.Helper()
	entry := toErase(t, entryID, of, after)
	entry.Operation = domain.OperationRectify
	entry.Corrections = domain.Corrections{domain.CategoryContact: "zoe@example.org"}
	return entry
}

// numbered are so many erasures, each of a subject of its own, in the order of their age.
func numbered(t testing.TB, n int) []domain.OutboxEntry {
	t.Helper()
	entries := make([]domain.OutboxEntry, n)
	for i := range entries {
		number := fmt.Sprintf("%03d", i)
		entries[i] = toErase(t, "e"+number, subjectOf(t, "acme", number), time.Duration(i)*time.Second)
	}
	return entries
}

func (b box) enqueue(t testing.TB, entries ...domain.OutboxEntry) {
	t.Helper()
	b.do(t, func(ctx context.Context, outbox ports.Outbox) error { return outbox.Enqueue(ctx, entries...) })
}

// claim takes what is due, with a lease and a token that says since when.
func (b box) claim(t testing.TB, limit int, at time.Time) []domain.OutboxEntry {
	t.Helper()
	return read(t, b.Store, func(ctx context.Context, session ports.Session) ([]domain.OutboxEntry, error) {
		return session.Outbox().Claim(ctx, limit, at, at.Add(lease), token(at))
	})
}

func token(at time.Time) string { return "lease of " + at.Format(time.RFC3339Nano) }

// claimed enqueues entries, claims them at noon, and returns them as they were claimed, in the order given.
func (b box) claimed(t testing.TB, entries ...domain.OutboxEntry) []domain.OutboxEntry {
	t.Helper()
	b.enqueue(t, entries...)
	found := b.claim(t, 1000, noon)
	claimed := make([]domain.OutboxEntry, len(entries))
	for i, entry := range entries {
		at := slices.IndexFunc(found, func(e domain.OutboxEntry) bool { return e.EntryID == entry.EntryID })
		must(t, at >= 0, "%s was enqueued and is not among the %d entries that were claimed", entry.EntryID, len(found))
		claimed[i] = found[at]
	}
	return claimed
}

// due returns what a claim at the instant would take, and takes none of it: the session is rolled back.
func (b box) due(t testing.TB, at time.Time) []domain.OutboxEntry {
	t.Helper()
	return b.dueFor(t, 1000, at)
}

// dueFor is due for some targets, up to a limit.
func (b box) dueFor(
	t testing.TB, limit int, at time.Time, known ...domain.OutboxTarget,
) (found []domain.OutboxEntry) {
	t.Helper()
	undo(t, b.Store, func(ctx context.Context, s ports.Session) (err error) {
		found, err = s.Outbox().Claim(ctx, limit, at, at.Add(lease), token(at), known...)
		return err
	})
	return found
}

func (b box) settle(t testing.TB, settlements ...domain.Settlement) []domain.SettleResult {
	t.Helper()
	results := read(t, b.Store, func(ctx context.Context, session ports.Session) ([]domain.SettleResult, error) {
		return session.Outbox().Settle(ctx, settlements)
	})
	must(t, len(results) == len(settlements), "%d settlements have %d results", len(settlements), len(results))
	return results
}

func (b box) counts(t testing.TB) map[domain.OutboxStatus]int64 {
	t.Helper()
	return read(t, b.Store, func(ctx context.Context, session ports.Session) (map[domain.OutboxStatus]int64, error) {
		return session.Outbox().Counts(ctx)
	})
}

func (b box) abandoned(t testing.TB, after *domain.OutboxEntry, limit int) []domain.OutboxEntry {
	t.Helper()
	return read(t, b.Store, func(ctx context.Context, session ports.Session) ([]domain.OutboxEntry, error) {
		return session.Outbox().Abandoned(ctx, after, limit)
	})
}

func succeeds(entry domain.OutboxEntry) domain.Settlement {
	return domain.Settlement{Entry: entry, Status: domain.OutboxSucceeded}
}

func fails(entry domain.OutboxEntry, next time.Time) domain.Settlement {
	return domain.Settlement{Entry: entry, Status: domain.OutboxFailed, LastError: "timeout", NextAttemptAt: &next}
}

func abandons(entry domain.OutboxEntry) domain.Settlement {
	return domain.Settlement{Entry: entry, Status: domain.OutboxAbandoned, LastError: "refused"}
}

func givesBack(entry domain.OutboxEntry) domain.Settlement {
	return domain.Settlement{Entry: entry, Status: domain.OutboxPending}
}

// The results of a settlement.
var (
	applied   = domain.SettleResult{}
	stale     = domain.SettleResult{Stale: true}
	completes = domain.SettleResult{Completes: true}
)

// named are results for a message.
func named(results []domain.SettleResult) []string {
	names := make([]string, len(results))
	for i, result := range results {
		names[i] = map[domain.SettleResult]string{applied: "applied", stale: "stale", completes: "completes"}[result]
	}
	return names
}

// entryIDs are those of the entries, in order.
func entryIDs(entries []domain.OutboxEntry) []string {
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = entry.EntryID
	}
	return ids
}

// cameTo checks what the first of some settlements resulted in.
func cameTo(t testing.TB, what string, got []domain.SettleResult, want domain.SettleResult) {
	t.Helper()
	assert(t, got[0] == want, "%s resulted in %v, want %v", what, named(got), named([]domain.SettleResult{want}))
}

// are checks which entries these are, in their order.
func are(t testing.TB, what string, got []domain.OutboxEntry, want ...string) {
	t.Helper()
	idsAre(t, what, entryIDs(got), want...)
}

func idsAre(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	assert(t, slices.Equal(got, want), "%s are %v, want %v", what, got, want)
}

// countsAre checks how many entries have each status.
func (b box) countsAre(t testing.TB, want map[domain.OutboxStatus]int64) {
	t.Helper()
	got := b.counts(t)
	assert(t, maps.Equal(got, want), "counted are %v, want %v", got, want)
}

// counted checks how many entries have a status.
func (b box) counted(t testing.TB, when string, status domain.OutboxStatus, want int64) {
	t.Helper()
	n := b.counts(t)[status]
	assert(t, n == want, "%s %d entries are %s, want %d", when, n, status, want)
}
