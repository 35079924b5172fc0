package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func (o outbox) Claim(
	ctx context.Context, limit int, at, leaseUntil time.Time, leaseToken string, known ...domain.OutboxTarget,
) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.usable()
	}
	state, err := o.write(ctx)
	if err != nil {
		return nil, err
	}
	at, leaseUntil = domain.Instant(at), domain.Instant(leaseUntil)
	c := claim{
		state: state, limit: limit, at: at, until: leaseUntil, latest: domain.LatestNextAttempt(at, leaseUntil, known),
	}
	taken := c.take(known)
	state.noteFirstClaims(taken, at)
	slices.SortFunc(taken, func(i, j int) int { return domain.OutboxEntry.Compare(state.entries[i], state.entries[j]) })
	return state.change(taken, func(e *domain.OutboxEntry) {
		e.Status = domain.OutboxInFlight
		e.Attempts++
		e.LastAttemptAt, e.NextAttemptAt, e.LeaseToken = &at, &leaseUntil, &leaseToken
		if e.SubjectID.IsZero() {
			settle(e, domain.Settlement{Status: domain.OutboxAbandoned, LastError: domain.LastErrorUnreadable})
		}
	}), nil
}

// claim selects the outbox entries that one call of Claim takes. It shares its limit fairly among the targets, which
// are pairs of a resolver and an operation.
type claim struct {
	*state
	limit             int
	at, until, latest time.Time
}

// take returns the indexes of the outbox entries to claim for the given targets. A target is a pair of a resolver and
// an operation. Without targets, take claims entries of all targets.
func (c claim) take(known []domain.OutboxTarget) []int {
	if len(known) == 0 {
		for _, e := range c.entries {
			target := domain.OutboxTarget{Resolver: e.Resolver, Operation: e.Operation}
			if isClaimable(e) && !slices.Contains(known, target) {
				known = append(known, target)
			}
		}
	}
	var resolvers []string
	of, most := map[string][][]int{}, map[string]int{}
	for _, target := range known {
		if _, found := most[target.Resolver]; !found {
			resolvers = append(resolvers, target.Resolver)
			most[target.Resolver] = c.limit
		}
		if target.Limit > 0 {
			most[target.Resolver] = min(most[target.Resolver], target.Limit)
		}
		of[target.Resolver] = append(of[target.Resolver], c.dueOf(target))
	}
	var shares [][]int
	for _, resolver := range resolvers {
		due := deal(of[resolver])
		shares = append(shares, due[:min(len(due), most[resolver])])
	}
	return upTo(c.limit, deal(shares))
}

// dueOf returns the indexes of the outbox entries of a target that are due. It alternates between entries without an
// earlier attempt and entries that are retried.
func (c claim) dueOf(target domain.OutboxTarget) []int {
	var fresh, retries []int
	for i, e := range c.entries {
		if !isClaimable(e) || e.Resolver != target.Resolver || e.Operation != target.Operation {
			continue
		}
		switch next := e.NextAttemptAt; {
		case next == nil && !e.EnqueuedAt.Before(target.DueFrom):
			fresh = append(fresh, i)
		case next != nil && (!next.After(c.at) && !next.Before(target.DueFrom) || next.After(c.latest) ||
			e.LastAttemptAt != nil && e.LastAttemptAt.After(c.until)):
			retries = append(retries, i)
		}
	}
	slices.SortFunc(fresh, func(i, j int) int { return domain.OutboxEntry.Compare(c.entries[i], c.entries[j]) })
	slices.SortFunc(retries, func(i, j int) int {
		a, b := c.entries[i], c.entries[j]
		return cmp.Or(a.NextAttemptAt.Compare(*b.NextAttemptAt), domain.OutboxEntry.Compare(a, b))
	})
	if c.at.Second()%2 == 0 {
		return deal([][]int{retries, fresh})
	}
	return deal([][]int{fresh, retries})
}

// deal merges the lists round robin.
func deal(from [][]int) (dealt []int) {
	for turn := 0; ; turn++ {
		before := len(dealt)
		for _, indexes := range from {
			if turn < len(indexes) {
				dealt = append(dealt, indexes[turn])
			}
		}
		if len(dealt) == before {
			return dealt
		}
	}
}
