package bunstore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// The outbox tests use fixed instants. Entries are enqueued from morning on and claimed from noon on.
var (
	morning = time.Date(2024, 3, 1, 8, 0, 0, 0, time.UTC)
	noon    = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
)

const lease = time.Minute

// box is the outbox of an empty database.
type box struct {
	db    *bun.DB
	store *bunstore.Store
}

func newBox(t testing.TB, db *bun.DB) box {
	t.Helper()
	must(t, bunstore.Migrate(context.Background(), db, bunstore.Options{}))
	return box{db, recorded(t, newStore(t, db))}
}

// wholeOutbox has the methods of both ports of an outbox.
type wholeOutbox struct {
	ports.Outbox
	ports.OutboxAdmin
}

func (b box) do(t testing.TB, fn func(context.Context, wholeOutbox) error) {
	t.Helper()
	must(t, b.try(fn))
}

// try calls fn with the outbox of a new session. The session has a timeout, so that a test fails if its session waits
// for another session.
func (b box) try(fn func(context.Context, wholeOutbox) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return b.store.Do(ctx, func(ctx context.Context, session ports.Session) error {
		return fn(ctx, wholeOutbox{session.Outbox(), session.OutboxAdmin()})
	})
}

var subject = fixture.MustID

// toErase returns a pending outbox entry of an erasure. It was enqueued at morning.Add(after).
func toErase(t testing.TB, entryID, of string, after time.Duration) domain.OutboxEntry {
	t.Helper()
	return domain.OutboxEntry{
		EntryID: entryID, SubjectID: subject(t, of), Resolver: "desk", Operation: domain.OperationErase,
		Ref:    domain.SubjectRef{Kind: "desk", Value: "ref-" + entryID, Extra: map[string]string{"region": "eu"}},
		Status: domain.OutboxPending, EnqueuedAt: morning.Add(after), RequestedAt: morning.Add(after - time.Hour),
	}
}

func toRectify(t testing.TB, entryID, of string, after time.Duration) domain.OutboxEntry {
	t.Helper()
	entry := toErase(t, entryID, of, after)
	entry.Operation, entry.Corrections = domain.OperationRectify, domain.Corrections{
		domain.CategoryContact: "jane@example.org",
	}
	return entry
}

// numbered returns n outbox entries of erasures, each of another subject, oldest first.
func numbered(t testing.TB, n int) []domain.OutboxEntry {
	t.Helper()
	entries := make([]domain.OutboxEntry, n)
	for i := range entries {
		entries[i] = toErase(t, fmt.Sprintf("e%04d", i), fmt.Sprintf("s%04d", i), time.Duration(i)*time.Second)
	}
	return entries
}

func (b box) enqueue(t testing.TB, entries ...domain.OutboxEntry) {
	t.Helper()
	b.do(t, func(ctx context.Context, outbox wholeOutbox) error { return outbox.Enqueue(ctx, entries...) })
}

// query returns a query for the given takes, with a lease of one minute.
func query(at time.Time, token string, takes ...domain.Take) domain.ClaimQuery {
	return domain.ClaimQuery{Now: at, LeaseUntil: at.Add(lease), LeaseToken: token, Takes: takes}
}

// upTo returns takes of up to n new entries and n retries of each operation of the desk.
func upTo(n int) []domain.Take {
	return []domain.Take{
		{Resolver: "desk", Operation: domain.OperationErase, Fresh: n, Retries: n},
		{Resolver: "desk", Operation: domain.OperationRectify, Fresh: n, Retries: n},
	}
}

// claim claims outbox entries that are due at the given time. The lease token contains this time.
func (b box) claim(t testing.TB, at time.Time, takes ...domain.Take) (claimed []domain.OutboxEntry) {
	t.Helper()
	b.do(t, func(ctx context.Context, outbox wholeOutbox) (err error) {
		claimed, err = outbox.Claim(ctx, query(at, "claimed at "+at.String(), takes...))
		return err
	})
	return claimed
}

// claimOf claims all due outbox entries. It returns those with the given ids, in the order of these ids.
func (b box) claimOf(t testing.TB, at time.Time, ids ...string) []domain.OutboxEntry {
	t.Helper()
	claimed := b.claim(t, at, upTo(1000)...)
	found := make([]domain.OutboxEntry, len(ids))
	for i, id := range ids {
		at := slices.IndexFunc(claimed, func(entry domain.OutboxEntry) bool { return entry.EntryID == id })
		if at < 0 {
			t.Fatalf("%s is not among the %d entries that were claimed", id, len(claimed))
		}
		found[i] = claimed[at]
	}
	return found
}

func (b box) settle(t testing.TB, settlements ...domain.Settlement) (results []domain.SettleResult) {
	t.Helper()
	b.do(t, func(ctx context.Context, outbox wholeOutbox) (err error) {
		results, err = outbox.Settle(ctx, settlements)
		return err
	})
	return results
}

func succeeds(entry domain.OutboxEntry) domain.Settlement {
	return domain.Settlement{Entry: entry, Status: domain.OutboxSucceeded}
}

func fails(entry domain.OutboxEntry, next time.Time) domain.Settlement {
	return domain.Settlement{Entry: entry, Status: domain.OutboxFailed, LastError: "internal", NextAttemptAt: &next}
}

func abandons(entry domain.OutboxEntry) domain.Settlement {
	return domain.Settlement{Entry: entry, Status: domain.OutboxAbandoned, LastError: "refused"}
}

func givesBack(entry domain.OutboxEntry) domain.Settlement {
	return domain.Settlement{Entry: entry, Status: domain.OutboxPending}
}

type row struct {
	EntryID, Status                         string
	Attempts                                int
	Ref, Corrections, LastError, LeaseToken *string
	LastAttemptAt, NextAttemptAt            *time.Time
}

// String formats the columns that are not NULL.
func (r row) String() string {
	texts := []string{r.Status, fmt.Sprint(r.Attempts)}
	for name, text := range map[string]*string{"ref": r.Ref, "corrections": r.Corrections, "leased": r.LeaseToken} {
		if text != nil {
			texts = append(texts, name)
		}
	}
	slices.Sort(texts[2:])
	if r.LastError != nil {
		texts = append(texts, *r.LastError)
	}
	if r.NextAttemptAt != nil {
		texts = append(texts, r.NextAttemptAt.UTC().Format("15:04:05"))
	}
	return strings.Join(texts, " ")
}

func (b box) row(t testing.TB, entryID string) (found row) {
	t.Helper()
	must(t, b.db.NewSelect().Table("habeas_outbox").Column("entry_id", "status", "attempts", "ref", "corrections",
		"last_error", "lease_token", "last_attempt_at", "next_attempt_at").
		Where("entry_id = ?", entryID).Scan(context.Background(), &found))
	return found
}

func ids(entries []domain.OutboxEntry) []string {
	found := make([]string, len(entries))
	for i, entry := range entries {
		found[i] = entry.EntryID
	}
	return found
}
