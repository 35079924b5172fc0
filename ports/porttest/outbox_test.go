package porttest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

func TestAnOutboxThatKeepsItsPromisesPasses(t *testing.T) {
	TestOutbox(t, inMemory(noDefect))
}

func TestOutboxesThatBreakAPromiseFail(t *testing.T) {
	claimsWait := []func(testing.TB, StoreHarness){outboxClaimsDoNotWaitForEachOther} // checked below
	promises := slices.DeleteFunc(slices.Clone(outboxEntryPromises), func(p promise.Promise[StoreHarness]) bool {
		return p.IsIn(claimsWait)
	})
	promise.ExpectDefects(t, promises, brokenStore, promise.Topics(map[string]defects{
		"enqueue": enqueueDefects(), "claim": claimDefects(), "settle": settleDefects(), "complete": completeDefects(),
		"operate": operateDefects(), "values": outboxValueDefects(),
	}))
}

// The store in memory runs one writing session at a time, so its claims wait for each other. It therefore serves as the
// broken store of this test.
func TestAnOutboxWhoseClaimsWaitIsFoundOut(t *testing.T) {
	promise.ExpectFailures(t, promisesOf(outboxClaimsDoNotWaitForEachOther), inMemory(noDefect), found{
		"a claim waits for the session of another one": {outboxClaimsDoNotWaitForEachOther},
	})
}

type (
	entries     = []domain.OutboxEntry
	settlements = []domain.Settlement
	results     = []domain.SettleResult
)

// wholeOutbox has the methods of both ports of an outbox.
type wholeOutbox struct {
	ports.Outbox
	ports.OutboxAdmin
}

// outboxCall holds the arguments of a call of a broken outbox, and the correct outbox.
type outboxCall struct {
	wholeOutbox
	ctx         context.Context
	entries     entries
	query       domain.ClaimQuery
	limit       int
	at          time.Time // the instant that is passed to Purge or Unclaimed
	settlements settlements
	after       *domain.OutboxEntry
	ids         []string
	id          domain.SubjectID
}

func (c outboxCall) enqueue() error { return c.Enqueue(c.ctx, c.entries...) }

func (c outboxCall) claim() (entries, error)                        { return c.Claim(c.ctx, c.query) }
func (c outboxCall) settle() (results, error)                       { return c.Settle(c.ctx, c.settlements) }
func (c outboxCall) counts() (map[domain.OutboxStatus]int64, error) { return c.Counts(c.ctx) }
func (c outboxCall) abandoned() (entries, error)                    { return c.Abandoned(c.ctx, c.after, c.limit) }
func (c outboxCall) requeue() (entries, error)                      { return c.Requeue(c.ctx, c.ids) }
func (c outboxCall) withdraw() (entries, error)                     { return c.Withdraw(c.ctx, c.id) }
func (c outboxCall) purge() (int64, error)                          { return c.Purge(c.ctx, c.at, c.limit) }
func (c outboxCall) unclaimed() (entries, error)                    { return c.Unclaimed(c.ctx, c.at, c.limit) }

// brokenOutbox is a defective outbox. Each function that is set replaces a method. The other methods are correct.
type brokenOutbox struct {
	wholeOutbox
	enqueue                                        func(c outboxCall) error
	claim, abandoned, requeue, withdraw, unclaimed func(c outboxCall) (entries, error)
	settle                                         func(c outboxCall) (results, error)
	counts                                         func(c outboxCall) (map[domain.OutboxStatus]int64, error)
	purge                                          func(c outboxCall) (int64, error)
}

func (o brokenOutbox) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		broken := o
		broken.wholeOutbox = wholeOutbox{s.Outbox(), s.OutboxAdmin()}
		return replacedStores{Session: s, outbox: broken, outboxAdmin: broken}
	})(store)
}

// callOr calls the first function if it is set, and the second function otherwise.
func callOr[C, R any](broken, good func(C) (R, error), call C) (R, error) {
	if broken != nil {
		return broken(call)
	}
	return good(call)
}

func (o brokenOutbox) Enqueue(ctx context.Context, added ...domain.OutboxEntry) error {
	if o.enqueue != nil {
		return o.enqueue(outboxCall{wholeOutbox: o.wholeOutbox, ctx: ctx, entries: added})
	}
	return o.Outbox.Enqueue(ctx, added...)
}

func (o brokenOutbox) Claim(ctx context.Context, query domain.ClaimQuery) (entries, error) {
	return callOr(o.claim, outboxCall.claim, outboxCall{wholeOutbox: o.wholeOutbox, ctx: ctx, query: query})
}

func (o brokenOutbox) Settle(ctx context.Context, s settlements) (results, error) {
	return callOr(o.settle, outboxCall.settle, outboxCall{wholeOutbox: o.wholeOutbox, ctx: ctx, settlements: s})
}

func (o brokenOutbox) Counts(ctx context.Context) (map[domain.OutboxStatus]int64, error) {
	return callOr(o.counts, outboxCall.counts, outboxCall{wholeOutbox: o.wholeOutbox, ctx: ctx})
}

func (o brokenOutbox) Abandoned(ctx context.Context, after *domain.OutboxEntry, limit int) (entries, error) {
	return callOr(o.abandoned, outboxCall.abandoned, outboxCall{
		wholeOutbox: o.wholeOutbox, ctx: ctx, after: after, limit: limit,
	})
}

func (o brokenOutbox) Requeue(ctx context.Context, ids []string) (entries, error) {
	return callOr(o.requeue, outboxCall.requeue, outboxCall{wholeOutbox: o.wholeOutbox, ctx: ctx, ids: ids})
}

func (o brokenOutbox) Withdraw(ctx context.Context, id domain.SubjectID) (entries, error) {
	return callOr(o.withdraw, outboxCall.withdraw, outboxCall{wholeOutbox: o.wholeOutbox, ctx: ctx, id: id})
}

func (o brokenOutbox) Purge(ctx context.Context, before time.Time, limit int) (int64, error) {
	return callOr(o.purge, outboxCall.purge, outboxCall{wholeOutbox: o.wholeOutbox, ctx: ctx, at: before, limit: limit})
}

func (o brokenOutbox) Unclaimed(ctx context.Context, before time.Time, limit int) (entries, error) {
	return callOr(o.unclaimed, outboxCall.unclaimed, outboxCall{
		wholeOutbox: o.wholeOutbox, ctx: ctx, at: before, limit: limit,
	})
}

// changesQuery returns a function that makes a store defective: its Claim passes its query through fn before it uses
// the query.
func changesQuery(fn func(query *domain.ClaimQuery)) func(*Store) {
	return brokenOutbox{claim: func(c outboxCall) (entries, error) { fn(&c.query); return c.claim() }}.breaks
}

// changesTakes returns a function that makes a store defective: its Claim passes each take through fn before it uses
// the take.
func changesTakes(fn func(take *domain.Take)) func(*Store) {
	return changesQuery(func(query *domain.ClaimQuery) { query.Takes = changed(slices.Clone(query.Takes), fn) })
}

// changesTaken returns a function that makes a store defective: its Claim passes the list of entries through fn before
// it returns the list.
func changesTaken(fn func(c outboxCall, taken entries) entries) func(*Store) {
	return brokenOutbox{claim: func(c outboxCall) (entries, error) {
		taken, err := c.claim()
		return fn(c, taken), err
	}}.breaks
}

// changesClaimed returns a function that makes a store defective: its Claim passes each entry through fn before it
// returns the entry.
func changesClaimed(fn func(*domain.OutboxEntry)) func(*Store) {
	return changesTaken(func(_ outboxCall, taken entries) entries { return changed(taken, fn) })
}

// changed calls fn with a pointer to each record, and returns the records.
func changed[R any](records []R, fn func(*R)) []R {
	for i := range records {
		fn(&records[i])
	}
	return records
}

// changesEach returns a function that takes and returns the results of a method. It changes each record in these
// results.
func changesEach[R any](fn func(*R)) func([]R, error) ([]R, error) {
	return func(records []R, err error) ([]R, error) { return changed(records, fn), err }
}

func reversed[R any](records []R, err error) ([]R, error) {
	slices.Reverse(records)
	return records, err
}

// remembered collects the entries that a broken outbox has seen. It keeps them even if the session rolls back.
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
