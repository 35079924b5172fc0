package porttest

import (
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
)

func TestOutboxesThatShareUnfairlyAreFoundOut(t *testing.T) {
	// retargets returns a function that makes a store defective: its Claim passes each target (resolver and operation)
	// through fn before it uses the target.
	retargets := func(fn func(c outboxCall, target *domain.OutboxTarget)) func(*Store) {
		return changesClaimCall(func(c *outboxCall) {
			c.known = changed(slices.Clone(c.known), func(target *domain.OutboxTarget) { fn(*c, target) })
		})
	}
	promise.ExpectDefects(t, *update, outboxFairPromises, brokenStore, defects{
		"the oldest, whoever they are for": {brokenOutbox{claim: func(c outboxCall) (entries, error) {
			limit := c.limit
			c.limit = 1000
			all, err := c.claim()
			return all[:min(limit, len(all))], err
		}}.breaks, found{"up to 4, after 1h0m0s: claimed are [r0 r1 r2 r3]": {outboxClaimSharesItsLimitWithRetries}}},
		"a share that is lost where it is not used": {retargets(func(c outboxCall, target *domain.OutboxTarget) {
			target.Limit = max(1, c.limit/max(1, len(c.known)))
		}), found{
			"up to 8 for two resolvers: claimed are [d0 d1 d2 d3 c0 c1 c2]": {outboxClaimSharesItsLimitAmongResolvers},
		}},
		"no limit of a resolver": {retargets(func(_ outboxCall, target *domain.OutboxTarget) { target.Limit = 0 }), found{
			"up to 100, and 3 of the resolver: claimed are [r0": {outboxClaimKeepsToTheLimitOfAResolver},
		}},
		"a later instant": {retargets(func(_ outboxCall, target *domain.OutboxTarget) {
			if !target.DueFrom.IsZero() {
				target.DueFrom = target.DueFrom.Add(tick)
			}
		}), found{"and not n0": {outboxClaimTakesEntriesDueSinceAnInstant}}},
		"until an instant that is left out": {changesTaken(func(c outboxCall, taken entries) entries {
			if len(c.known) == 0 || c.known[0].DueUntil.IsZero() {
				return taken
			}
			return slices.DeleteFunc(taken, func(e domain.OutboxEntry) bool {
				return e.Attempts == 1 && !e.EnqueuedAt.Before(c.known[0].DueUntil)
			})
		}), found{"and not n5": {outboxClaimTakesEntriesDueSinceAnInstant}}},
		"retries by their age": {changesTaken(func(c outboxCall, taken entries) entries {
			var from time.Time
			if len(c.known) > 0 {
				from = c.known[0].DueFrom
			}
			return slices.DeleteFunc(taken, func(e domain.OutboxEntry) bool { return e.EnqueuedAt.Before(from) })
		}), found{"and not r0": {outboxClaimTakesEntriesDueSinceAnInstant}}},
		"turns that do not change": {changesClaimCall(func(c *outboxCall) {
			c.at = c.at.Add(-time.Duration(c.at.Second()%2) * time.Second)
		}), found{"one in an odd second: claimed are [r5], want [n0": {outboxClaimsWithALimitOfOneTakeTurns}}},
	})
}
