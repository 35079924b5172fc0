package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func TestOutboxesThatShareUnfairlyAreFoundOut(t *testing.T) {
	claims := func(claim func(o *brokenOutbox) func(context.Context, int, time.Time, time.Time, string) (entries, error)) func(*Store) {
		return changesOutbox(func(o *brokenOutbox) { o.claim = claim(o) })
	}
	// retargets is a defect of what a claim is for.
	retargets := func(change func(*domain.OutboxTarget)) func(*Store) {
		return claims(func(o *brokenOutbox) func(context.Context, int, time.Time, time.Time, string) (entries, error) {
			return func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
				for i := range o.good.known {
					change(&o.good.known[i])
				}
				return o.good.take(ctx, limit, at, until, token)
			}
		})
	}
	for name, defect := range map[string]storeDefect{
		"the oldest, whoever they are for": {
			claims(func(o *brokenOutbox) func(context.Context, int, time.Time, time.Time, string) (entries, error) {
				return func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
					all, err := o.good.take(ctx, 1000, at, until, token)
					return all[:min(limit, len(all))], err
				}
			}),
			map[string]string{
				"outbox claim shares its limit among resolvers": "up to 4 for two resolvers: claimed are [d0 d1 d2 d3]",
				"outbox claim shares its limit with retries":    "up to 4, after 1h0m0s: claimed are [r0 r1 r2 r3]",
				"outbox claim of one takes turns":               "one in an even second: claimed are [r0], want r5",
			},
		},
		"a share that is lost where it is not used": {
			claims(func(o *brokenOutbox) func(context.Context, int, time.Time, time.Time, string) (entries, error) {
				return func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
					n := max(1, len(o.good.known))
					for i := range o.good.known {
						o.good.known[i].Limit = max(1, limit/n)
					}
					return o.good.take(ctx, limit, at, until, token)
				}
			}),
			map[string]string{
				"outbox claim shares its limit among resolvers": "up to 8 for two resolvers: claimed are [d0 d1 d2 d3 c0 c1 c2]",
				"outbox claim keeps to the limit of a resolver": "up to 100, and 3 of the resolver",
			},
		},
		"no limit of a resolver": {
			retargets(func(target *domain.OutboxTarget) { target.Limit = 0 }),
			map[string]string{"outbox claim keeps to the limit of a resolver": "up to 100, and 3 of the resolver: claimed are [r0"},
		},
		"a later instant": {
			retargets(func(target *domain.OutboxTarget) {
				if !target.DueFrom.IsZero() {
					target.DueFrom = target.DueFrom.Add(tick)
				}
			}),
			map[string]string{"outbox claim takes what is due from an instant on": "and not n0"},
		},
		"retries by their age": {
			claims(func(o *brokenOutbox) func(context.Context, int, time.Time, time.Time, string) (entries, error) {
				return func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
					var from time.Time
					if len(o.good.known) > 0 {
						from = o.good.known[0].DueFrom
					}
					claimed, err := o.good.take(ctx, limit, at, until, token)
					return slices.DeleteFunc(claimed, func(e domain.OutboxEntry) bool { return e.EnqueuedAt.Before(from) }), err
				}
			}),
			map[string]string{"outbox claim takes what is due from an instant on": "and not r0"},
		},
		"turns that are none": {
			claims(func(o *brokenOutbox) func(context.Context, int, time.Time, time.Time, string) (entries, error) {
				return func(ctx context.Context, limit int, at, until time.Time, token string) (entries, error) {
					return o.good.take(ctx, limit, at.Add(-time.Duration(at.Second()%2)*time.Second), until, token)
				}
			}),
			map[string]string{"outbox claim of one takes turns": "one in an odd second: claimed are [r5], want n0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectFailures(t, outboxFairCases, inMemory(defect.breaks), defect.found)
		})
	}
}
