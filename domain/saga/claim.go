package saga

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// batch holds the entries of one claim.
type batch struct {
	entries    []domain.OutboxEntry
	unreadable []domain.OutboxEntry // abandoned by the store
	leaseUntil time.Time
	token      string
	full       bool // more entries may be due, and the batch had no room for them
}

func (b batch) size() int { return len(b.entries) + len(b.unreadable) }

// admitted returns the systems that may be called now and are not busy, with the number of entries that a claim may
// take of each.
func (r *Runner) admitted(now time.Time, busy func(system string) bool) map[string]int {
	limits := map[string]int{}
	for _, name := range r.resolvers.Names() {
		if busy != nil && busy(name) {
			continue
		}
		if limit := r.throttles[name].admit(now); limit > 0 {
			limits[name] = limit
		}
	}
	return limits
}

// claim claims a batch of outbox entries of systems that are not busy. It waits for the database for at most
// CallTimeout. The store abandons entries that cannot be read, and claim records an audit event for each of them in the
// same transaction.
func (n *run) claim(ctx context.Context, busy func(system string) bool) (b batch, err error) {
	limits := n.admitted(n.config.Clock.Now(), busy)
	if len(limits) == 0 {
		return batch{}, nil
	}
	defer func() {
		for name, reserved := range limits {
			n.throttles[name].claimed(reserved, countOf(b.entries, name))
			n.reportBreaker(ctx, name)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, n.config.CallTimeout)
	defer cancel()
	var claimed batch
	var streams []*stream
	err = n.config.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		streams = n.shares.of(limits) // Do may call the function again
		claimed, err = n.take(ctx, s, streams, limits)
		return err
	})
	if err != nil {
		return batch{}, err
	}
	b = claimed
	n.shares.record(streams)
	n.events.progress()
	if b.full {
		n.events.full()
	}
	return b, nil
}

// take claims due entries of the streams. If it finds less than three quarters of the entries that the batch has room
// for, it asks the streams that may have more once again, until it has asked each of them.
func (r *Runner) take(
	ctx context.Context, s ports.Session, streams []*stream, limits map[string]int,
) (b batch, err error) {
	now := domain.Instant(r.config.Clock.Now())
	b = batch{leaseUntil: now.Add(r.config.Lease), token: r.config.IDs.NewID()}
	query := domain.ClaimQuery{
		Now: now, LeaseUntil: b.leaseUntil, LeaseToken: b.token,
		LongestWait: max(r.config.MaxBackoff, r.config.Lease, domain.LongestWait) + clockMargin,
	}
	left, room := maps.Clone(limits), 0
	for _, limit := range limits {
		room = min(room+limit, r.config.Batch)
	}
	for 4*b.size() < 3*room {
		query.Takes = deal(room-b.size(), unanswered(streams), left)
		if len(query.Takes) == 0 {
			break
		}
		claimed, err := s.Outbox().Claim(ctx, query)
		if err != nil {
			return batch{}, err
		}
		took(streams, query.Takes, claimed)
		for _, entry := range claimed {
			left[entry.Resolver]--
			if entry.Status != domain.OutboxAbandoned {
				b.entries = append(b.entries, entry)
				continue
			}
			b.unreadable = append(b.unreadable, entry)
			if err := r.recordFailure(ctx, s, entry, domain.LastErrorUnreadable, true); err != nil {
				return batch{}, err
			}
		}
	}
	asked := map[string]int{}
	for _, s := range streams {
		asked[s.system] += s.asked
	}
	b.full = slices.ContainsFunc(streams, func(s *stream) bool {
		limit := limits[s.system]
		return s.asked > 0 && s.more && (limit >= r.config.Batch || asked[s.system] < limit)
	})
	return b, nil
}

// countOf returns the number of entries of a system.
func countOf(entries []domain.OutboxEntry, name string) (n int) {
	for _, entry := range entries {
		if entry.Resolver == name {
			n++
		}
	}
	return n
}
