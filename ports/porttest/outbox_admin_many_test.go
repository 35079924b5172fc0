package porttest

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// brokenOps is an outbox with defective methods for operators. Each function that is set changes the arguments or the
// results of a method.
type brokenOps struct {
	wholeOutbox

	backlog func([]domain.OutboxBacklog) []domain.OutboxBacklog
	filter  func(*domain.OutboxFilter)
	limit   func(int) int
	discard func([]domain.Discarded)
	tried   func(map[string]time.Time)
	never   bool // whether Discard does nothing
}

func (o brokenOps) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		changed := o
		changed.wholeOutbox = wholeOutbox{s.Outbox(), s.OutboxAdmin()}
		return replacedStores{Session: s, outbox: changed, outboxAdmin: changed}
	})(store)
}

func (o brokenOps) Backlog(ctx context.Context) ([]domain.OutboxBacklog, error) {
	found, err := o.wholeOutbox.Backlog(ctx)
	if o.backlog != nil {
		found = o.backlog(found)
	}
	return found, err
}

func (o brokenOps) RequeueMatching(ctx context.Context, filter domain.OutboxFilter, limit int) (entries, error) {
	if o.filter != nil {
		o.filter(&filter)
	}
	if o.limit != nil {
		limit = o.limit(limit)
	}
	return o.wholeOutbox.RequeueMatching(ctx, filter, limit)
}

func (o brokenOps) Discard(ctx context.Context, ids []string) ([]domain.Discarded, error) {
	if o.never {
		return nil, nil
	}
	discarded, err := o.wholeOutbox.Discard(ctx, ids)
	if o.discard != nil {
		o.discard(discarded)
	}
	return discarded, err
}

func (o brokenOps) FirstClaims(ctx context.Context, ids []string) (map[string]time.Time, error) {
	since, err := o.wholeOutbox.FirstClaims(ctx, ids)
	if o.tried != nil {
		o.tried(since)
	}
	return since, err
}

func TestOperationsThatBreakAPromiseAreFoundOut(t *testing.T) {
	promise.ExpectDefects(t, outboxOperationsPromises, brokenStore, defects{
		"none of them": {brokenOps{}.breaks, found{}},
		"a backlog of succeeded entries": {brokenOps{backlog: func(found []domain.OutboxBacklog) []domain.OutboxBacklog {
			for i := range found {
				found[i].Counts[domain.OutboxSucceeded] = 0
			}
			return found
		}}.breaks, found{"the backlog is crm": {outboxBacklogCountsByResolver}}},
		"a backlog that has no instants": {brokenOps{backlog: func(found []domain.OutboxBacklog) []domain.OutboxBacklog {
			for i := range found {
				found[i].OldestDue = found[i].Oldest
			}
			return found
		}}.breaks, found{"the backlog is crm": {outboxBacklogCountsByResolver}}},
		"a requeue of any resolver": {brokenOps{filter: func(f *domain.OutboxFilter) { f.Resolver = "" }}.breaks, found{
			"of another resolver: requeued are": {outboxRequeueTakesMatchingEntries},
		}},
		"a requeue of any age": {
			brokenOps{filter: func(f *domain.OutboxFilter) { f.EnqueuedBefore = time.Time{} }}.breaks,
			found{"by age: requeued are [d1 d2 d3 d4 c0 c1 c2]": {outboxRequeueTakesMatchingEntries}},
		},
		"a requeue without a limit": {brokenOps{limit: func(int) int { return 1000 }}.breaks, found{
			"none: requeued are": {outboxRequeueTakesMatchingEntries},
		}},
		"a discard that completes nothing": {brokenOps{discard: func(discarded []domain.Discarded) {
			for i := range discarded {
				discarded[i].Completes = false
			}
		}}.breaks, found{"[] complete, want [a]": {outboxDiscardCompletesAnErasure}}},
		"a discard that completes with the last of a subject": {brokenOps{discard: func(discarded []domain.Discarded) {
			for i := range discarded[:max(0, len(discarded)-1)] {
				discarded[i].Completes = false
			}
		}}.breaks, found{"each operation, [c d] complete, want [a c d]": {outboxDiscardCompletesOneOperation}}},
		"a discard that completes always": {brokenOps{discard: func(discarded []domain.Discarded) {
			for i := range discarded {
				discarded[i].Completes = true
			}
		}}.breaks, found{"completes is true": {outboxDiscardSettlesAbandonedEntries}}},
		"no discard": {brokenOps{never: true}.breaks, found{"discarded are []": {outboxDiscardSettlesAbandonedEntries}}},
		"a requeue that is forgotten": {brokenOps{tried: func(since map[string]time.Time) { clear(since) }}.breaks, found{
			"after claim 1, FirstClaims returned map[]":               {outboxFirstClaimIsResetByARequeue},
			"after a release of a second claim, FirstClaims returned": {outboxFirstClaimIsResetByARelease},
		}},
		"a release that counts": {brokenOps{tried: func(since map[string]time.Time) {
			if len(since) == 0 {
				since["d0"] = noon
			}
		}}.breaks, found{"after a release, FirstClaims returned map[d0:": {outboxFirstClaimIsResetByARelease}}},
	})
}
