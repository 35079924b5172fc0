package porttest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func TestAnOutboxThatKeepsItsPromisesPasses(t *testing.T) {
	TestOutbox(t, inMemory(right))
}

// Each of these outboxes breaks promises, and is found out for what it broke and for nothing else.
func TestOutboxesThatBreakAPromiseFail(t *testing.T) {
	claimsWait := []func(testing.TB, StoreHarness){outboxClaimsDoNotWaitForEachOther} // see below
	promises := slices.DeleteFunc(slices.Clone(outboxEntryPromises), func(p promise[StoreHarness]) bool { return p.isIn(claimsWait) })
	expectDefects(t, promises, inMemory, topics(map[string]defects{
		"enqueue": enqueueDefects(), "claim": claimDefects(), "settle": settleDefects(), "complete": completeDefects(),
		"operate": operateDefects(), "values": outboxValueDefects(),
	}))
}

// The one promise that a store in memory cannot keep: its writers come one after the other.
func TestAnOutboxWhoseClaimsWaitIsFoundOut(t *testing.T) {
	expectFailures(t, only(outboxClaimsDoNotWaitForEachOther), inMemory(right), found{
		"a claim waits for the session of another one": {outboxClaimsDoNotWaitForEachOther},
	})
}

// brokenOutbox is an outbox in which functions stand for methods of the good one.
type brokenOutbox struct {
	good *targeted

	enqueue   func(ctx context.Context, entries ...domain.OutboxEntry) error
	claim     func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error)
	settle    func(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error)
	counts    func(ctx context.Context) (map[domain.OutboxStatus]int64, error)
	abandoned func(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error)
	requeue   func(ctx context.Context, ids []string) ([]domain.OutboxEntry, error)
	withdraw  func(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error)
	purge     func(ctx context.Context, before time.Time, limit int) (int64, error)
	unclaimed func(ctx context.Context, before time.Time, limit int) ([]domain.OutboxEntry, error)
}

// newBrokenOutbox keeps every promise.
func newBrokenOutbox(outbox ports.Outbox) *brokenOutbox {
	good := &targeted{Outbox: outbox}
	return &brokenOutbox{
		good: good, enqueue: good.Enqueue, claim: good.take, settle: good.Settle, counts: good.Counts,
		abandoned: good.Abandoned, requeue: good.Requeue, withdraw: good.Withdraw, purge: good.Purge,
		unclaimed: good.Unclaimed,
	}
}

// targeted is an outbox that knows the targets of the claim under way, so that claims that are broken in another way
// need not hand them on.
type targeted struct {
	ports.Outbox
	known []domain.OutboxTarget
}

func (t *targeted) Claim(
	ctx context.Context, limit int, at, until time.Time, token string, known ...domain.OutboxTarget,
) ([]domain.OutboxEntry, error) {
	if len(known) == 0 {
		known = t.known
	}
	return t.Outbox.Claim(ctx, limit, at, until, token, known...)
}

func (t *targeted) take(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
	return t.Claim(ctx, limit, at, until, token)
}

// changesOutbox is a defect of the outbox of every session.
func changesOutbox(change func(o *brokenOutbox)) func(*Store) {
	return changesSessions(func(s ports.Session) replaced {
		o := newBrokenOutbox(s.Outbox())
		change(o)
		return replaced{Session: s, outbox: o}
	})
}

func (o *brokenOutbox) Enqueue(ctx context.Context, entries ...domain.OutboxEntry) error {
	return o.enqueue(ctx, entries...)
}

func (o *brokenOutbox) Claim(
	ctx context.Context, limit int, at, until time.Time, token string, known ...domain.OutboxTarget,
) ([]domain.OutboxEntry, error) {
	o.good.known = known
	return o.claim(ctx, limit, at, until, token)
}

func (o *brokenOutbox) Unclaimed(ctx context.Context, before time.Time, limit int) ([]domain.OutboxEntry, error) {
	return o.unclaimed(ctx, before, limit)
}

func (o *brokenOutbox) Settle(ctx context.Context, s []domain.Settlement) ([]domain.SettleResult, error) {
	return o.settle(ctx, s)
}

func (o *brokenOutbox) Counts(ctx context.Context) (map[domain.OutboxStatus]int64, error) {
	return o.counts(ctx)
}

func (o *brokenOutbox) Abandoned(
	ctx context.Context, after *domain.OutboxEntry, limit int,
) ([]domain.OutboxEntry, error) {
	return o.abandoned(ctx, after, limit)
}

func (o *brokenOutbox) Requeue(ctx context.Context, ids []string) ([]domain.OutboxEntry, error) {
	return o.requeue(ctx, ids)
}

func (o *brokenOutbox) Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
	return o.withdraw(ctx, id)
}

func (o *brokenOutbox) Purge(ctx context.Context, before time.Time, limit int) (int64, error) {
	return o.purge(ctx, before, limit)
}

// remembered is what a broken outbox has seen of entries, whatever became of the sessions.
type remembered struct {
	mu      sync.Mutex
	entries map[string]domain.OutboxEntry
}

func (r *remembered) note(entries ...domain.OutboxEntry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries == nil {
		r.entries = map[string]domain.OutboxEntry{}
	}
	for _, entry := range entries {
		r.entries[entry.EntryID] = entry
	}
}

func (r *remembered) get(id string) (domain.OutboxEntry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry, ok := r.entries[id]
	return entry, ok
}

// each changes the entries that a good method returns.
func each(entries []domain.OutboxEntry, err error, change func(*domain.OutboxEntry)) ([]domain.OutboxEntry, error) {
	for i := range entries {
		change(&entries[i])
	}
	return entries, err
}
