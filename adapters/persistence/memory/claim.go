package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func (o outbox) Claim(ctx context.Context, query domain.ClaimQuery) ([]domain.OutboxEntry, error) {
	state, err := o.write(ctx)
	if err != nil {
		return nil, err
	}
	query.Now, query.LeaseUntil = domain.Instant(query.Now), domain.Instant(query.LeaseUntil)
	var taken []int
	for _, take := range query.Takes {
		fresh, retries := state.due(query, take)
		taken = slices.Concat(taken, upTo(take.Fresh, fresh), upTo(take.Retries, retries))
	}
	state.noteFirstClaims(taken, query.Now)
	slices.SortFunc(taken, func(i, j int) int { return domain.OutboxEntry.Compare(state.entries[i], state.entries[j]) })
	return state.change(taken, func(e *domain.OutboxEntry) {
		e.Status = domain.OutboxInFlight
		e.Attempts++
		e.LastAttemptAt, e.NextAttemptAt, e.LeaseToken = &query.Now, &query.LeaseUntil, &query.LeaseToken
		if e.SubjectID.IsZero() {
			settle(e, domain.Settlement{Status: domain.OutboxAbandoned, LastError: domain.LastErrorUnreadable})
		}
	}), nil
}

// due returns the indexes of the due entries of a take, the first to take first.
func (s *state) due(query domain.ClaimQuery, take domain.Take) (fresh, retries []int) {
	var postponed []int // by a process with a wrong clock
	for i, e := range s.entries {
		if !isClaimable(e) || e.Resolver != take.Resolver || e.Operation != take.Operation {
			continue
		}
		next := e.NextAttemptAt
		if next == nil {
			fresh = append(fresh, i)
			continue
		}
		if !next.After(query.Now) {
			retries = append(retries, i)
			continue
		}
		if next.After(query.LatestNextAttempt()) || e.LastAttemptAt != nil && e.LastAttemptAt.After(query.LeaseUntil) {
			postponed = append(postponed, i)
		}
	}
	slices.SortFunc(fresh, func(i, j int) int { return compareTurns(s.entries[i], s.entries[j]) })
	for _, waiting := range [][]int{retries, postponed} {
		slices.SortFunc(waiting, func(i, j int) int {
			a, b := s.entries[i], s.entries[j]
			return cmp.Or(a.NextAttemptAt.Compare(*b.NextAttemptAt), compareTurns(a, b))
		})
	}
	return fresh, slices.Concat(retries, postponed)
}

func compareTurns(a, b domain.OutboxEntry) int {
	turnOf := func(e domain.OutboxEntry) time.Time {
		if e.TurnAt.IsZero() {
			return e.EnqueuedAt
		}
		return e.TurnAt
	}
	return cmp.Or(turnOf(a).Compare(turnOf(b)), strings.Compare(a.EntryID, b.EntryID))
}
