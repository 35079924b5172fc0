package porttest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// changesClaimed is a defect of what a claim returns.
func changesClaimed(change func(*domain.OutboxEntry)) func(*Store) {
	return changesOutbox(func(o *brokenOutbox) {
		o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
			claimed, err := o.good.Claim(ctx, limit, at, until, token)
			return each(claimed, err, change)
		}
	})
}

// claimsAt is a defect of the instant at which a claim looks for what is due.
func claimsAt(shift func(at time.Time) time.Time) func(*Store) {
	return changesOutbox(func(o *brokenOutbox) {
		o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
			claimed, err := o.good.Claim(ctx, limit, shift(at), until, token)
			return each(claimed, err, func(e *domain.OutboxEntry) { e.LastAttemptAt = pointer(domain.Instant(at)) })
		}
	})
}

func claimDefects() defects {
	return defects{
		"an instant that is exclusive": {claimsAt(func(at time.Time) time.Time { return at.Add(-tick) }), found{
			"is not due at its instant":                                           {outboxClaimTakesAnEntryAtItsInstant},
			"claimed once the lease has ended are [], want [a":                    {outboxClaimTakesAnExpiredLease},
			"once the lease has ended, another claim takes":                       {outboxClaimMarksWhatItTakes},
			"what failed is not due at its next attempt":                          {outboxNextAttemptIsAFailures},
			"due at its next attempt are [], want [a":                             {outboxFailureIsTriedAgainInItsTime},
			"a has LastAttemptAt":                                                 {outboxAbandonedErasureKeepsItsRef, outboxAbandonedRectificationIsForgotten},
			"a settlement under an earlier lease as succeeded came to [completes": {outboxSettlementUnderALostLeaseIsStale},
		}},
		"whatever the time": {claimsAt(func(at time.Time) time.Time { return at.Add(10_000 * time.Hour) }), found{
			"the next attempt changed": {outboxKeepsCopies}, "pending], want [e": {outboxClaimTakesWhatIsDue},
			"is due a microsecond before its instant": {outboxClaimTakesAnEntryAtItsInstant},
			"claimed [e": {outboxClaimTakesTheOldestFirst},
			"after a claim of up to 7, 5 entries are pending, want 4": {outboxClaimKeepsToTheLimit},
			"or under the lease of another":                           {outboxClaimsShareNoEntry},
			"what failed is due before its next attempt":              {outboxFailureIsTriedAgainInItsTime},
			"a has LastAttemptAt":                                     {outboxAbandonedErasureKeepsItsRef, outboxAbandonedRectificationIsForgotten},
			"before the lease has ended, [a b] are due, want only b":  {outboxSettlementUnderALostLeaseIsStale},
		}},
		"no limit": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, _ int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
				return o.good.Claim(ctx, 1000, at, until, token)
			}
		}), found{
			"claimed": {outboxClaimTakesTheOldestFirst}, "were claimed": {outboxClaimKeepsToTheLimit},
			"entries, of up to 7, and failed with: <nil>": {outboxClaimsShareNoEntry},
		}},
		"at least one": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
				return o.good.Claim(ctx, max(limit, 1), at, until, token)
			}
		}), found{"entries: 1 were claimed": {outboxClaimKeepsToTheLimit}}},
		"the youngest first": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
				claimed, err := o.good.Claim(ctx, limit, at, until, token)
				slices.Reverse(claimed)
				return claimed, err
			}
		}), found{
			"as they were": {outboxEntryIDsAreUnique}, "claimed are [d c b a], want [a b c d": {outboxEntriesComeBackAsEnqueued},
			"the session claims [e": {outboxSessionClaimsWhatItEnqueued}, "want [e": {outboxClaimTakesWhatIsDue},
			"claimed": {outboxClaimTakesTheOldestFirst},
			"once the lease has ended, another claim takes [b a":                      {outboxClaimMarksWhatItTakes},
			"claimed after the rollback are [e":                                       {outboxClaimCanBeRolledBack},
			"claimed again are [b a], want [a b":                                      {outboxUntriedEntryIsGivenBack},
			"due after the lease are [b a], want [a b":                                {outboxSettlementUnderALostLeaseIsStale},
			"then claimed are [b a c], want [c a b":                                   {outboxRequeueMakesErasuresNew},
			"left are [longer the tenant another tenant another number an erasure of": {outboxWithdrawLeavesOthersAlone},
		}},
		"by age alone": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
				claimed, err := o.good.Claim(ctx, limit, at, until, token)
				slices.Reverse(claimed)
				slices.SortStableFunc(claimed, func(a, b domain.OutboxEntry) int { return a.EnqueuedAt.Compare(b.EnqueuedAt) })
				return claimed, err
			}
		}), found{
			"claimed [b a], want [a b":              {outboxClaimTakesTheOldestFirst},
			"then claimed are [c b a], want [c a b": {outboxRequeueMakesErasuresNew},
		}},
		"what is in flight, by anybody": {func(store *Store) {
			var mu sync.Mutex
			var last []domain.OutboxEntry
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
					claimed, err := o.good.Claim(ctx, limit, at, until, token)
					mu.Lock()
					defer mu.Unlock()
					if len(claimed) > 0 && len(claimed) < limit && len(last) > 0 && limit < 1000 {
						twice := last[0]
						twice.LeaseToken = &token
						claimed = append(claimed, twice)
					}
					last = claimed
					return claimed, err
				}
			})(store)
		}, found{
			"claimed once the lease has ended are [a a], want [a": {outboxClaimTakesAnExpiredLease},
			"of 4 entries: 5 were claimed":                        {outboxClaimKeepsToTheLimit},
			"claimed after the rollback are [e":                   {outboxClaimCanBeRolledBack}, "was claimed 2 times": {outboxClaimsShareNoEntry},
			"claimed again are [a b a], want [a b":                                  {outboxUntriedEntryIsGivenBack},
			"2 entries are due after the requeue, want 1":                           {outboxAbandonedErasuresHoldCompletionBack},
			"then claimed are [c a b c], want [c a b":                               {outboxRequeueMakesErasuresNew},
			"left are [an erasure of the subject another number another tenant the": {outboxWithdrawLeavesOthersAlone},
		}},
		"only what was never tried": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
				claimed, err := o.good.Claim(ctx, limit, at, until, token)
				return slices.DeleteFunc(claimed, func(e domain.OutboxEntry) bool { return e.Attempts > 1 }), err
			}
		}), found{
			"pending], want [e": {outboxClaimTakesWhatIsDue}, "due are [], want only e": {outboxClaimLeavesWhatIsSettledForGood},
			"is not due at its instant":                        {outboxClaimTakesAnEntryAtItsInstant},
			"claimed once the lease has ended are [], want [a": {outboxClaimTakesAnExpiredLease},
			"once the lease has ended, another claim takes":    {outboxClaimMarksWhatItTakes},
			"what failed is not due at its next attempt":       {outboxNextAttemptIsAFailures},
			"due at its next attempt are [], want [a":          {outboxFailureIsTriedAgainInItsTime},
			"due after the lease are [b], want [a b":           {outboxSettlementUnderALostLeaseIsStale},
		}},
		"what was abandoned": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
				abandoned, err := o.good.Abandoned(ctx, nil, 1000)
				if err != nil {
					return nil, err
				}
				if _, err := o.good.Requeue(ctx, entryIDs(abandoned)); err != nil {
					return nil, err
				}
				return o.good.Claim(ctx, limit, at, until, token)
			}
		}), found{
			"which is not settled":                        {outboxClaimLeavesWhatIsSettledForGood},
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
		"a lease of its own length": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
				claimed, err := o.good.Claim(ctx, limit, at, until.Add(lease), token)
				return each(claimed, err, func(e *domain.OutboxEntry) { e.NextAttemptAt = &until })
			}
		}), found{
			"NextAttemptAt is":                                                    {outboxInstantsAreInUTCAndMicroseconds},
			"is not due at its instant":                                           {outboxClaimTakesAnEntryAtItsInstant},
			"claimed once the lease has ended are [], want [a":                    {outboxClaimTakesAnExpiredLease},
			"once the lease has ended, another claim takes":                       {outboxClaimMarksWhatItTakes},
			"a settlement under an earlier lease as succeeded came to [completes": {outboxSettlementUnderALostLeaseIsStale},
		}},
		"one token for all": {changesOutbox(func(o *brokenOutbox) {
			o.claim = func(ctx context.Context, limit int, at, until time.Time, _ string) ([]domain.OutboxEntry, error) {
				return o.good.Claim(ctx, limit, at, until, "token")
			}
		}), found{
			"has LeaseToken token, want lease of": {
				outboxEntriesComeBackAsEnqueued, outboxClaimMarksWhatItTakes, outboxClaimCanBeRolledBack,
				outboxUntriedEntryIsGivenBack, outboxRequeueMakesErasuresNew, outboxWithdrawLeavesOthersAlone,
			},
			"a has LeaseToken token, want lease of":                               {outboxClaimTakesAnExpiredLease, outboxFailureIsTriedAgainInItsTime},
			"was claimed at attempt 1, or under the lease of another":             {outboxClaimsShareNoEntry},
			"a settlement under an earlier lease as succeeded came to [completes": {outboxSettlementUnderALostLeaseIsStale},
		}},
		"at once, in a session of its own": {func(store *Store) {
			sessions := store.Sessions
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(_ context.Context, limit int, at, until time.Time, token string) (claimed []domain.OutboxEntry, err error) {
					err = sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
						claimed, err = s.Outbox().Claim(ctx, limit, at, until, token)
						return err
					})
					return claimed, err
				}
			})(store)
		}, found{
			"0 entries were claimed, want 1": {outboxKeepsCopies}, "the session claims": {outboxSessionClaimsWhatItEnqueued},
			"before the lease ends: due are [e":                                  {outboxClaimTakesWhatIsDue},
			"an entry is not in flight under the token that it was claimed with": {outboxClaimMarksWhatItTakes},
			"after the rollback":                                                 {outboxClaimCanBeRolledBack},
			"due after the lease are [a], want [a b":                             {outboxSettlementUnderALostLeaseIsStale},
		}},
	}
}
