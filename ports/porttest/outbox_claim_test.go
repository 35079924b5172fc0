package porttest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// claimsAt returns a function that makes a store defective: its Claim passes its instant through shift before it
// selects the due entries.
func claimsAt(shift func(at time.Time) time.Time) func(*Store) {
	return brokenOutbox{claim: func(c outboxCall) (entries, error) {
		attempt := domain.Instant(c.query.Now)
		c.query.Now = shift(c.query.Now)
		return changesEach(func(e *domain.OutboxEntry) { e.LastAttemptAt = &attempt })(c.claim())
	}}.breaks
}

// skipsRetries makes a store defective: its Claim does not return entries that were claimed before.
var skipsRetries = changesTaken(func(_ outboxCall, taken entries) entries {
	return slices.DeleteFunc(taken, func(e domain.OutboxEntry) bool { return e.Attempts > 1 })
})

func claimDefects() defects {
	return defects{
		"an instant that is exclusive": {claimsAt(func(at time.Time) time.Time { return at.Add(-tick) }), found{
			"is not due at its instant": {outboxClaimTakesAnEntryAtItsInstant},
		}},
		"whatever the time": {claimsAt(func(at time.Time) time.Time { return at.Add(10_000 * time.Hour) }), found{
			"up to 7 of 11 entries: 8 were claimed": {outboxClaimKeepsToTheLimit},
		}},
		"no limit": {changesTakes(func(take *domain.Take) { take.Fresh = 1000 }), found{
			"were claimed": {outboxClaimKeepsToTheLimit},
		}},
		"at least one": {changesTakes(func(take *domain.Take) { take.Fresh = max(take.Fresh, 1) }), found{
			"entries: 1 were claimed": {outboxClaimKeepsToTheLimit},
		}},
		"the youngest first": {
			brokenOutbox{claim: func(c outboxCall) (entries, error) { return reversed(c.claim()) }}.breaks,
			found{"claimed": {outboxClaimTakesTheOldestFirst}},
		},
		"by age alone": {changesTaken(func(_ outboxCall, taken entries) entries {
			slices.Reverse(taken)
			slices.SortStableFunc(taken, func(a, b domain.OutboxEntry) int { return a.EnqueuedAt.Compare(b.EnqueuedAt) })
			return taken
		}), found{"claimed [b a], want [a b": {outboxClaimTakesTheOldestFirst}}},
		"entries in flight, with any lease": {func(store *Store) {
			var mu sync.Mutex
			var last entries
			changesTaken(func(c outboxCall, taken entries) entries {
				mu.Lock()
				defer mu.Unlock()
				most := c.query.Takes[0].Fresh
				if len(taken) > 0 && len(taken) < most && len(last) > 0 && most < 1000 {
					twice := last[0]
					twice.LeaseToken = &c.query.LeaseToken
					taken = append(taken, twice)
				}
				last = taken
				return taken
			})(store)
		}, found{"of 4 entries: 5 were claimed": {outboxClaimKeepsToTheLimit}}},
		"only entries without an attempt": {skipsRetries, found{
			"due are [], want [e": {outboxClaimLeavesSucceededAndAbandonedEntries},
		}},
		"abandoned entries": {brokenOutbox{claim: func(c outboxCall) (entries, error) {
			abandoned, err := c.Abandoned(c.ctx, nil, 1000)
			if err != nil {
				return nil, err
			}
			if _, err := c.Requeue(c.ctx, entryIDs(abandoned)); err != nil {
				return nil, err
			}
			return c.claim()
		}}.breaks, found{"], want [e002]": {outboxClaimLeavesSucceededAndAbandonedEntries}}},
		"attempts that are not counted": {changesClaimed(func(e *domain.OutboxEntry) { e.Attempts-- }), found{
			"has Attempts 0, want 1": {outboxClaimMarksItsEntries},
		}},
		"no time of the attempt": {changesClaimed(func(e *domain.OutboxEntry) { e.LastAttemptAt = nil }), found{
			"want 1 with its instants": {outboxInstantsAreInUTCAndMicroseconds},
		}},
		"the status that it had": {changesClaimed(func(e *domain.OutboxEntry) { e.Status = domain.OutboxPending }), found{
			"has Status pending, want in_flight": {outboxClaimMarksItsEntries},
		}},
		"an error that is forgotten": {changesClaimed(func(e *domain.OutboxEntry) { e.LastError = nil }), found{
			"a has LastError <nil>, want timeout": {outboxFailureIsTriedAgainWhenDue},
		}},
		"a lease of its own length": {brokenOutbox{claim: func(c outboxCall) (entries, error) {
			until := c.query.LeaseUntil
			c.query.LeaseUntil = until.Add(lease)
			return changesEach(func(e *domain.OutboxEntry) { e.NextAttemptAt = &until })(c.claim())
		}}.breaks, found{
			"NextAttemptAt is": {outboxInstantsAreInUTCAndMicroseconds},
			"claimed once the lease has ended are [], want [a": {outboxClaimTakesAnExpiredLease},
		}},
		"one token for all": {changesQuery(func(query *domain.ClaimQuery) { query.LeaseToken = "token" }), found{
			"was claimed at attempt 1, or under the lease of another": {outboxClaimsShareNoEntry},
		}},
		"immediately, in a separate session": {func(store *Store) {
			sessions := store.Sessions
			brokenOutbox{claim: func(c outboxCall) (claimed entries, err error) {
				err = sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
					claimed, err = s.Outbox().Claim(ctx, c.query)
					return err
				})
				return claimed, err
			}}.breaks(store)
		}, found{
			"the session claims": {outboxSessionClaimsItsOwnEntries},
			"after the rollback": {outboxClaimCanBeRolledBack},
		}},
	}
}
