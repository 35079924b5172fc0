package porttest

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
)

func TestOutboxesThatIgnoreATakeAreFoundOut(t *testing.T) {
	promise.ExpectDefects(t, outboxTakePromises, brokenStore, defects{
		"the oldest, whoever they are for": {brokenOutbox{claim: func(c outboxCall) (entries, error) {
			most := 0
			for i, take := range c.query.Takes {
				most += max(0, take.Fresh) + max(0, take.Retries)
				c.query.Takes[i].Fresh, c.query.Takes[i].Retries = 1000, 1000
			}
			all, err := c.claim()
			return all[:min(most, len(all))], err
		}}.breaks, found{
			"2 and 2, after 1h0m0s: claimed are [r0 r1 r2 r3]": {outboxClaimTakesTheOldestOfEach},
		}},
		"one number for both kinds": {changesTakes(func(take *domain.Take) {
			take.Fresh, take.Retries = take.Fresh+take.Retries, take.Fresh+take.Retries
		}), found{"claimed are [r": {outboxClaimTakesSoManyOfEach}}},
		"the first take for all": {changesQuery(func(query *domain.ClaimQuery) {
			query.Takes = slices.Clone(query.Takes)
			for i := range query.Takes {
				query.Takes[i].Fresh, query.Takes[i].Retries = query.Takes[0].Fresh, query.Takes[0].Retries
			}
		}), found{"want [r5 n0 c0 c1]": {outboxClaimTakesSoManyOfEach}}},
		"retries that were released": {changesTakes(func(take *domain.Take) {
			if take.Fresh+take.Retries == 1 {
				take.Fresh, take.Retries = take.Retries, take.Fresh
			}
		}), found{"one retry: claimed are [n0], want [r4]": {outboxClaimCountsReleasedEntriesAsNew}}},
		"postponed entries first": {brokenOutbox{claim: func(c outboxCall) (entries, error) {
			claimed, err := c.claim()
			if len(c.query.Takes) != 1 || c.query.Takes[0].Retries != 6 || err != nil {
				return claimed, err
			}
			c.query.Takes[0].Retries = 1
			last, err := c.claim()
			return append(claimed[1:], last...), err
		}}.breaks, found{"six retries: claimed are": {outboxClaimTakesPostponedEntriesLast}}},
	})
}
