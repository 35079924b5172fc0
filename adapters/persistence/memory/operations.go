package memory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func (o outbox) Backlog(ctx context.Context) ([]domain.OutboxBacklog, error) {
	state, err := o.read(ctx, len(o.unwritten.entries) > 0)
	if err != nil {
		return nil, err
	}
	of := map[string]domain.OutboxBacklog{}
	for _, entry := range state.entries {
		if entry.Status == domain.OutboxSucceeded {
			continue
		}
		backlog, found := of[entry.Resolver]
		if !found {
			backlog = domain.OutboxBacklog{Resolver: entry.Resolver, Counts: map[domain.OutboxStatus]int64{
				domain.OutboxPending: 0, domain.OutboxInFlight: 0, domain.OutboxFailed: 0, domain.OutboxAbandoned: 0,
				domain.OutboxSpared: 0,
			}}
		}
		backlog.Counts[entry.Status]++
		if isClaimable(entry) {
			due := entry.EnqueuedAt
			if entry.NextAttemptAt != nil {
				due = *entry.NextAttemptAt
			}
			backlog.Oldest, backlog.OldestDue = earlier(backlog.Oldest, entry.EnqueuedAt), earlier(backlog.OldestDue, due)
		}
		of[entry.Resolver] = backlog
	}
	return slices.SortedFunc(maps.Values(of), func(a, b domain.OutboxBacklog) int {
		return strings.Compare(a.Resolver, b.Resolver)
	}), nil
}

func earlier(a *time.Time, b time.Time) *time.Time {
	if a == nil || b.Before(*a) {
		return &b
	}
	return a
}

func (o outbox) Requeue(ctx context.Context, entryIDs []string) ([]domain.OutboxEntry, error) {
	if len(entryIDs) == 0 {
		return nil, o.usable()
	}
	wanted := asSet(entryIDs)
	return o.requeue(ctx, func(e domain.OutboxEntry) bool { return wanted[e.EntryID] }, len(entryIDs))
}

func (o outbox) RequeueMatching(
	ctx context.Context, filter domain.OutboxFilter, limit int,
) ([]domain.OutboxEntry, error) {
	if limit < 1 {
		return nil, o.usable()
	}
	filter.EnqueuedBefore, filter.EnqueuedFrom = domain.Instant(filter.EnqueuedBefore), domain.Instant(filter.EnqueuedFrom)
	return o.requeue(ctx, filter.Matches, limit)
}

func (o outbox) requeue(
	ctx context.Context, chosen func(domain.OutboxEntry) bool, limit int,
) ([]domain.OutboxEntry, error) {
	state, err := o.write(ctx)
	if err != nil {
		return nil, err
	}
	abandoned := upTo(limit, state.oldest(func(e domain.OutboxEntry) bool {
		return e.Status == domain.OutboxAbandoned && e.Operation == domain.OperationErase && chosen(e)
	}))
	if len(abandoned) > 0 {
		o.enqueued = true
	}
	requeued := state.change(abandoned, func(e *domain.OutboxEntry) {
		e.Status, e.Attempts = domain.OutboxPending, 0
		e.LastAttemptAt, e.NextAttemptAt, e.LastError = nil, nil, nil
	})
	state.forgetFirstClaims(requeued...)
	return requeued, nil
}

// noteFirstClaims records the time of a claim for each entry that has no recorded claim.
func (s *state) noteFirstClaims(indexes []int, at time.Time) {
	claims := maps.Clone(s.firstClaims)
	if claims == nil {
		claims = map[string]time.Time{}
	}
	for _, i := range indexes {
		if _, known := claims[s.entries[i].EntryID]; !known {
			claims[s.entries[i].EntryID] = at
		}
	}
	s.firstClaims = claims
}

// forgetFirstClaims removes the first claims of the entries.
func (s *state) forgetFirstClaims(entries ...domain.OutboxEntry) {
	if len(entries) == 0 {
		return
	}
	s.firstClaims = maps.Clone(s.firstClaims)
	for _, entry := range entries {
		delete(s.firstClaims, entry.EntryID)
	}
}

func (o outbox) FirstClaims(ctx context.Context, entryIDs []string) (map[string]time.Time, error) {
	state, err := o.read(ctx, false) // a session without a state has claimed nothing
	if err != nil {
		return nil, err
	}
	found := map[string]time.Time{}
	for _, id := range entryIDs {
		if since, claimed := state.firstClaims[id]; claimed {
			found[id] = since
		}
	}
	return found, nil
}

func (o outbox) Discard(ctx context.Context, entryIDs []string) ([]domain.Discarded, error) {
	if len(entryIDs) == 0 {
		return nil, o.usable()
	}
	wanted := asSet(entryIDs)
	state, err := o.write(ctx)
	if err != nil {
		return nil, err
	}
	unhandled := state.oldest(func(e domain.OutboxEntry) bool { return isUnhandled(e) && wanted[e.EntryID] })
	spared := map[string]bool{}
	for _, entry := range pick(state.entries, unhandled) {
		spared[entry.EntryID] = entry.Status == domain.OutboxSpared
	}
	changed := state.change(unhandled, func(e *domain.OutboxEntry) {
		e.Status, e.LastError, e.NextAttemptAt, e.LeaseToken = domain.OutboxSucceeded, nil, nil, nil
		forget(e)
	})
	discarded := make([]domain.Discarded, len(changed))
	last := map[operationOf]int{}
	for i, entry := range changed {
		discarded[i].Entry = entry
		if entry.Operation == domain.OperationErase && !entry.SubjectID.IsZero() && !spared[entry.EntryID] {
			last[ofEntry(entry)] = i
		}
	}
	for of, i := range last {
		discarded[i].Completes = !slices.ContainsFunc(state.entries, of.leavesOpen)
	}
	return discarded, nil
}

func asSet(texts []string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		set[text] = true
	}
	return set
}
