package porttest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// claimsAt is a defect of the instant at which a claim looks for what is due.
func claimsAt(shift func(at time.Time) time.Time) func(*Store) {
	return brokenOutbox{claim: func(c outboxCall) (entries, error) {
		attempt := domain.Instant(c.at)
		c.at = shift(c.at)
		return each(func(e *domain.OutboxEntry) { e.LastAttemptAt = &attempt })(c.claim())
	}}.breaks
}

// firstAttempts is the defect of claims that forget what was tried before.
var firstAttempts = takes(func(_ outboxCall, taken entries) entries {
	return slices.DeleteFunc(taken, func(e domain.OutboxEntry) bool { return e.Attempts > 1 })
})

func claimDefects() defects {
	return defects{
		"an instant that is exclusive": {claimsAt(func(at time.Time) time.Time { return at.Add(-tick) }), found{
			"is not due at its instant":                        {outboxClaimTakesAnEntryAtItsInstant},
			"claimed once the lease has ended are [], want [a": {outboxClaimTakesAnExpiredLease},
			"once the lease has ended, another claim takes":    {outboxClaimMarksWhatItTakes},
			"what failed is not due at its next attempt":       {outboxNextAttemptIsAFailures},
			"due at its next attempt are [], want [a":          {outboxFailureIsTriedAgainInItsTime},
			"a has LastAttemptAt": {
				outboxAbandonedErasureKeepsItsRef, outboxAbandonedRectificationIsForgotten,
			},
			"a settlement under an earlier lease as succeeded came to [completes": {outboxSettlementUnderALostLeaseIsStale},
		}},
		"whatever the time": {claimsAt(func(at time.Time) time.Time { return at.Add(10_000 * time.Hour) }), found{
			"the next attempt changed": {outboxKeepsCopies}, "pending], want [e": {outboxClaimTakesWhatIsDue},
			"is due a microsecond before its instant": {outboxClaimTakesAnEntryAtItsInstant},
			"claimed [e": {outboxClaimTakesTheOldestFirst},
			"after a claim of up to 7, 5 entries are pending, want 4": {outboxClaimKeepsToTheLimit},
			"or under the lease of another":                           {outboxClaimsShareNoEntry},
			"what failed is due before its next attempt":              {outboxFailureIsTriedAgainInItsTime},
			"a has LastAttemptAt": {
				outboxAbandonedErasureKeepsItsRef, outboxAbandonedRectificationIsForgotten,
			},
			"before the lease has ended, [a b] are due, want only b": {outboxSettlementUnderALostLeaseIsStale},
		}},
		"no limit": {asks(func(c *outboxCall) { c.limit = 1000 }), found{
			"claimed": {outboxClaimTakesTheOldestFirst}, "were claimed": {outboxClaimKeepsToTheLimit},
			"entries, of up to 7, and failed with: <nil>": {outboxClaimsShareNoEntry},
		}},
		"at least one": {asks(func(c *outboxCall) { c.limit = max(c.limit, 1) }), found{
			"entries: 1 were claimed": {outboxClaimKeepsToTheLimit},
		}},
		"the youngest first": {
			brokenOutbox{claim: func(c outboxCall) (entries, error) { return reversed(c.claim()) }}.breaks,
			found{
				"as they were":                         {outboxEntryIDsAreUnique},
				"claimed are [d c b a], want [a b c d": {outboxEntriesComeBackAsEnqueued},
				"the session claims [e":                {outboxSessionClaimsWhatItEnqueued}, "want [e": {outboxClaimTakesWhatIsDue},
				"claimed": {outboxClaimTakesTheOldestFirst},
				"once the lease has ended, another claim takes [b a":                      {outboxClaimMarksWhatItTakes},
				"claimed after the rollback are [e":                                       {outboxClaimCanBeRolledBack},
				"claimed again are [b a], want [a b":                                      {outboxUntriedEntryIsGivenBack},
				"due after the lease are [b a], want [a b":                                {outboxSettlementUnderALostLeaseIsStale},
				"then claimed are [b a c], want [c a b":                                   {outboxRequeueMakesErasuresNew},
				"left are [longer the tenant another tenant another number an erasure of": {outboxWithdrawLeavesOthersAlone},
			},
		},
		"by age alone": {takes(func(_ outboxCall, taken entries) entries {
			slices.Reverse(taken)
			slices.SortStableFunc(taken, func(a, b domain.OutboxEntry) int { return a.EnqueuedAt.Compare(b.EnqueuedAt) })
			return taken
		}), found{
			"claimed [b a], want [a b":              {outboxClaimTakesTheOldestFirst},
			"then claimed are [c b a], want [c a b": {outboxRequeueMakesErasuresNew},
		}},
		"what is in flight, by anybody": {func(store *Store) {
			var mu sync.Mutex
			var last entries
			takes(func(c outboxCall, taken entries) entries {
				mu.Lock()
				defer mu.Unlock()
				if len(taken) > 0 && len(taken) < c.limit && len(last) > 0 && c.limit < 1000 {
					twice := last[0]
					twice.LeaseToken = &c.token
					taken = append(taken, twice)
				}
				last = taken
				return taken
			})(store)
		}, found{
			"claimed once the lease has ended are [a a], want [a":                   {outboxClaimTakesAnExpiredLease},
			"of 4 entries: 5 were claimed":                                          {outboxClaimKeepsToTheLimit},
			"claimed after the rollback are [e":                                     {outboxClaimCanBeRolledBack},
			"was claimed 2 times":                                                   {outboxClaimsShareNoEntry},
			"claimed again are [a b a], want [a b":                                  {outboxUntriedEntryIsGivenBack},
			"2 entries are due after the requeue, want 1":                           {outboxAbandonedErasuresHoldCompletionBack},
			"then claimed are [c a b c], want [c a b":                               {outboxRequeueMakesErasuresNew},
			"left are [an erasure of the subject another number another tenant the": {outboxWithdrawLeavesOthersAlone},
		}},
		"only what was never tried": {firstAttempts, found{
			"pending], want [e": {outboxClaimTakesWhatIsDue}, "due are [], want [e": {outboxClaimLeavesWhatIsSettledForGood},
			"is not due at its instant":                        {outboxClaimTakesAnEntryAtItsInstant},
			"claimed once the lease has ended are [], want [a": {outboxClaimTakesAnExpiredLease},
			"once the lease has ended, another claim takes":    {outboxClaimMarksWhatItTakes},
			"what failed is not due at its next attempt":       {outboxNextAttemptIsAFailures},
			"due at its next attempt are [], want [a":          {outboxFailureIsTriedAgainInItsTime},
			"due after the lease are [b], want [a b":           {outboxSettlementUnderALostLeaseIsStale},
		}},
		"what was abandoned": {brokenOutbox{claim: func(c outboxCall) (entries, error) {
			abandoned, err := c.Abandoned(c.ctx, nil, 1000)
			if err != nil {
				return nil, err
			}
			if _, err := c.Requeue(c.ctx, entryIDs(abandoned)); err != nil {
				return nil, err
			}
			return c.claim()
		}}.breaks, found{
			"], want [e002]": {outboxClaimLeavesWhatIsSettledForGood},
			"2 entries are due after the requeue, want 1": {outboxAbandonedErasuresHoldCompletionBack},
		}},
		"attempts that are not counted": {changesClaimed(func(e *domain.OutboxEntry) { e.Attempts-- }), found{
			"has Attempts 0, want 1": {
				outboxEntriesComeBackAsEnqueued, outboxClaimMarksWhatItTakes, outboxClaimCanBeRolledBack,
				outboxUntriedEntryIsGivenBack, outboxRequeueMakesErasuresNew, outboxWithdrawLeavesOthersAlone,
			},
			"a has Attempts": {outboxClaimTakesAnExpiredLease},
			"was claimed at attempt 0, or under the lease of another": {outboxClaimsShareNoEntry},
			"a has Attempts 1, want 2":                                {outboxFailureIsTriedAgainInItsTime},
			"has Attempts":                                            {outboxSettlementUnderALostLeaseIsStale},
		}},
		"no time of the attempt": {changesClaimed(func(e *domain.OutboxEntry) { e.LastAttemptAt = nil }), found{
			"want 1 with its instants": {outboxInstantsAreInUTCAndMicroseconds},
			"has LastAttemptAt <nil>, want": {
				outboxEntriesComeBackAsEnqueued, outboxClaimMarksWhatItTakes, outboxClaimCanBeRolledBack,
				outboxUntriedEntryIsGivenBack, outboxSettlementUnderALostLeaseIsStale, outboxRequeueMakesErasuresNew,
				outboxWithdrawLeavesOthersAlone,
			},
			"a has LastAttemptAt <nil>, want": {outboxClaimTakesAnExpiredLease, outboxFailureIsTriedAgainInItsTime},
		}},
		"the status that it had": {changesClaimed(func(e *domain.OutboxEntry) { e.Status = domain.OutboxPending }), found{
			"has Status pending, want in_flight": {
				outboxEntriesComeBackAsEnqueued, outboxClaimMarksWhatItTakes, outboxClaimCanBeRolledBack,
				outboxUntriedEntryIsGivenBack, outboxSettlementUnderALostLeaseIsStale, outboxRequeueMakesErasuresNew,
				outboxWithdrawLeavesOthersAlone,
			},
			"a has Status pending, want in_flight": {outboxClaimTakesAnExpiredLease, outboxFailureIsTriedAgainInItsTime},
		}},
		"an error that is forgotten": {changesClaimed(func(e *domain.OutboxEntry) { e.LastError = nil }), found{
			"a has LastError <nil>, want timeout": {outboxFailureIsTriedAgainInItsTime},
		}},
		"a lease of its own length": {brokenOutbox{claim: func(c outboxCall) (entries, error) {
			until := c.until
			c.until = until.Add(lease)
			return each(func(e *domain.OutboxEntry) { e.NextAttemptAt = &until })(c.claim())
		}}.breaks, found{
			"NextAttemptAt is":                                                    {outboxInstantsAreInUTCAndMicroseconds},
			"is not due at its instant":                                           {outboxClaimTakesAnEntryAtItsInstant},
			"claimed once the lease has ended are [], want [a":                    {outboxClaimTakesAnExpiredLease},
			"once the lease has ended, another claim takes":                       {outboxClaimMarksWhatItTakes},
			"a settlement under an earlier lease as succeeded came to [completes": {outboxSettlementUnderALostLeaseIsStale},
		}},
		"one token for all": {asks(func(c *outboxCall) { c.token = "token" }), found{
			"has LeaseToken token, want lease of": {
				outboxEntriesComeBackAsEnqueued, outboxClaimMarksWhatItTakes, outboxClaimCanBeRolledBack,
				outboxUntriedEntryIsGivenBack, outboxRequeueMakesErasuresNew, outboxWithdrawLeavesOthersAlone,
			},
			"a has LeaseToken token, want lease of": {
				outboxClaimTakesAnExpiredLease, outboxFailureIsTriedAgainInItsTime,
			},
			"was claimed at attempt 1, or under the lease of another":             {outboxClaimsShareNoEntry},
			"a settlement under an earlier lease as succeeded came to [completes": {outboxSettlementUnderALostLeaseIsStale},
		}},
		"at once, in a session of its own": {func(store *Store) {
			sessions := store.Sessions
			brokenOutbox{claim: func(c outboxCall) (claimed entries, err error) {
				err = sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
					claimed, err = s.Outbox().Claim(ctx, c.limit, c.at, c.until, c.token, c.known...)
					return err
				})
				return claimed, err
			}}.breaks(store)
		}, found{
			"0 entries were claimed, want 1": {outboxKeepsCopies}, "the session claims": {outboxSessionClaimsWhatItEnqueued},
			"before the lease ends: due are [e":                                  {outboxClaimTakesWhatIsDue},
			"an entry is not in flight under the token that it was claimed with": {outboxClaimMarksWhatItTakes},
			"after the rollback":                                                 {outboxClaimCanBeRolledBack},
			"due after the lease are [a], want [a b":                             {outboxSettlementUnderALostLeaseIsStale},
		}},
	}
}
