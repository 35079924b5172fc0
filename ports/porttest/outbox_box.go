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

// morning is the instant at which the cases enqueue their first outbox entries. They claim the entries at or after
// noon. No case reads the clock.
var morning = noon.Add(-4 * time.Hour)

const (
	lease = 5 * time.Minute
	tick  = time.Microsecond // the smallest difference between two instants of a store
)

// box is an open store with helper methods for its outbox.
type box struct{ Store }

func (h StoreHarness) box(t testing.TB) box {
	t.Helper()
	return box{h.open(t)}
}

// do calls fn with the outbox of a separate session, and fails if the session does not commit.
func (b box) do(t testing.TB, fn func(context.Context, ports.Outbox) error) {
	t.Helper()
	do(t, b.Store, func(ctx context.Context, s ports.Session) error { return fn(ctx, s.Outbox()) })
}

func (b box) try(t testing.TB, fn func(context.Context, ports.Outbox) error) error {
	return try(t, b.Store, func(ctx context.Context, s ports.Session) error { return fn(ctx, s.Outbox()) })
}

// toErase returns a pending erasure for the resolver that is named desk. It is enqueued at morning.Add(after), and was
// requested a day before.
func toErase(t testing.TB, entryID string, of domain.SubjectID, after time.Duration) domain.OutboxEntry {
	t.Helper()
	return domain.OutboxEntry{
		EntryID: entryID, SubjectID: of, Resolver: "desk", Operation: domain.OperationErase,
		Ref:    domain.SubjectRef{Kind: "desk", Value: "contact of " + entryID, Extra: map[string]string{"region": "eu"}},
		Status: domain.OutboxPending, EnqueuedAt: morning.Add(after), RequestedAt: morning.Add(after - 24*time.Hour),
	}
}

func toRectify(t testing.TB, entryID string, of domain.SubjectID, after time.Duration) domain.OutboxEntry {
	t.Helper()
	entry := toErase(t, entryID, of, after)
	entry.Operation = domain.OperationRectify
	entry.Corrections = domain.Corrections{domain.CategoryContact: "zoe@example.org"}
	return entry
}

// numbered returns n erasures of n subjects, oldest first.
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

// query returns a query for the takes. The lease token contains the instant.
func query(at time.Time, takes ...domain.Take) domain.ClaimQuery {
	return domain.ClaimQuery{Now: at, LeaseUntil: at.Add(lease), LeaseToken: token(at), Takes: takes}
}

// upTo returns takes of up to n new entries and n retries of each operation of the systems that the cases use.
func upTo(n int) (takes []domain.Take) {
	for _, resolver := range []string{"desk", "crm", "mail", "mail, Zoë's", "gone"} {
		for _, operation := range []domain.Operation{domain.OperationErase, domain.OperationRectify} {
			takes = append(takes, domain.Take{Resolver: resolver, Operation: operation, Fresh: n, Retries: n})
		}
	}
	return takes
}

// claim claims entries that are due at the given instant: up to limit new entries, and as many retries, of each
// operation of each system.
func (b box) claim(t testing.TB, limit int, at time.Time) []domain.OutboxEntry {
	t.Helper()
	return b.claimFor(t, at, upTo(limit)...)
}

func (b box) claimFor(t testing.TB, at time.Time, takes ...domain.Take) []domain.OutboxEntry {
	t.Helper()
	return read(t, b.Store, func(ctx context.Context, session ports.Session) ([]domain.OutboxEntry, error) {
		return session.Outbox().Claim(ctx, query(at, takes...))
	})
}

func token(at time.Time) string { return "lease of " + at.Format(time.RFC3339Nano) }

// enqueueAndClaim enqueues entries and claims them at noon. It returns the claimed entries in the order of its
// arguments.
func (b box) enqueueAndClaim(t testing.TB, entries ...domain.OutboxEntry) []domain.OutboxEntry {
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

// due returns the entries that are due at the given instant. It claims the entries and then rolls the session back.
func (b box) due(t testing.TB, at time.Time) []domain.OutboxEntry {
	t.Helper()
	return b.dueFor(t, at, upTo(1000)...)
}

// dueFor returns the entries that Claim returns for these takes. It then rolls the session back.
func (b box) dueFor(t testing.TB, at time.Time, takes ...domain.Take) (found []domain.OutboxEntry) {
	t.Helper()
	undo(t, b.Store, func(ctx context.Context, s ports.Session) (err error) {
		found, err = s.Outbox().Claim(ctx, query(at, takes...))
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
		return session.OutboxAdmin().Counts(ctx)
	})
}

func (b box) abandoned(t testing.TB, after *domain.OutboxEntry, limit int) []domain.OutboxEntry {
	t.Helper()
	return read(t, b.Store, func(ctx context.Context, session ports.Session) ([]domain.OutboxEntry, error) {
		return session.OutboxAdmin().Abandoned(ctx, after, limit)
	})
}

func succeeds(entry domain.OutboxEntry) domain.Settlement {
	return domain.Settlement{Entry: entry, Status: domain.OutboxSucceeded}
}

func spares(entry domain.OutboxEntry) domain.Settlement {
	return domain.Settlement{Entry: entry, Status: domain.OutboxSpared}
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

// These are the results that Settle can return for one settlement.
var (
	applied   = domain.SettleResult{}
	stale     = domain.SettleResult{Stale: true}
	completes = domain.SettleResult{Completes: true}
)

// namesOf returns the names of the results, such as stale. The message of a failed case shows them.
func namesOf(results []domain.SettleResult) []string {
	names := make([]string, len(results))
	for i, result := range results {
		names[i] = map[domain.SettleResult]string{applied: "applied", stale: "stale", completes: "completes"}[result]
	}
	return names
}

func entryIDs(entries []domain.OutboxEntry) []string {
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = entry.EntryID
	}
	return ids
}

// expectResult checks the first result of a call of Settle.
func expectResult(t testing.TB, what string, got []domain.SettleResult, want domain.SettleResult) {
	t.Helper()
	assert(t, got[0] == want, "%s resulted in %v, want %v", what, namesOf(got), namesOf([]domain.SettleResult{want}))
}

func expectEntries(t testing.TB, what string, got []domain.OutboxEntry, want ...string) {
	t.Helper()
	expectIDs(t, what, entryIDs(got), want...)
}

func expectIDs(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	assert(t, slices.Equal(got, want), "%s are %v, want %v", what, got, want)
}

func (b box) expectCounts(t testing.TB, want map[domain.OutboxStatus]int64) {
	t.Helper()
	got := b.counts(t)
	assert(t, maps.Equal(got, want), "counted are %v, want %v", got, want)
}

func (b box) expectCount(t testing.TB, when string, status domain.OutboxStatus, want int64) {
	t.Helper()
	n := b.counts(t)[status]
	assert(t, n == want, "%s %d entries are %s, want %d", when, n, status, want)
}
