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

func claimDefects() map[string]storeDefect {
	return map[string]storeDefect{
		"an instant that is exclusive": {
			claimsAt(func(at time.Time) time.Time { return at.Add(-tick) }),
			map[string]string{
				"outbox claim takes an entry at its instant":    "is not due at its instant",
				"outbox claim takes an expired lease":           "claimed once the lease has ended are [], want [a",
				"outbox claim marks what it takes":              "once the lease has ended, another claim takes",
				"outbox next attempt is a failure's":            "what failed is not due at its next attempt",
				"outbox failure is tried again in its time":     "due at its next attempt are [], want [a",
				"outbox abandoned erasure keeps its ref":        "a has LastAttemptAt",
				"outbox abandoned rectification is forgotten":   "a has LastAttemptAt",
				"outbox settlement under a lost lease is stale": "a settlement under an earlier lease as succeeded came to [completes",
			},
		},
		"whatever the time": {
			claimsAt(func(at time.Time) time.Time { return at.Add(10_000 * time.Hour) }),
			map[string]string{
				"outbox keeps copies":                           "the next attempt changed",
				"outbox claim takes what is due":                "pending], want [e",
				"outbox claim takes an entry at its instant":    "is due a microsecond before its instant",
				"outbox claim takes the oldest first":           "claimed [e",
				"outbox claim keeps to the limit":               "after a claim of up to 7, 5 entries are pending, want 4",
				"outbox claims share no entry":                  "or under the lease of another",
				"outbox failure is tried again in its time":     "what failed is due before its next attempt",
				"outbox abandoned erasure keeps its ref":        "a has LastAttemptAt",
				"outbox abandoned rectification is forgotten":   "a has LastAttemptAt",
				"outbox settlement under a lost lease is stale": "before the lease has ended, [a b] are due, want only b",
			},
		},
		"no limit": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, _ int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
					return o.good.Claim(ctx, 1000, at, until, token)
				}
			}),
			map[string]string{
				"outbox claim takes the oldest first": "claimed",
				"outbox claim keeps to the limit":     "were claimed",
				"outbox claims share no entry":        "entries, of up to 7, and failed with: <nil>",
			},
		},
		"at least one": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
					return o.good.Claim(ctx, max(limit, 1), at, until, token)
				}
			}),
			map[string]string{
				"outbox claim keeps to the limit": "entries: 1 were claimed",
			},
		},
		"the youngest first": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
					claimed, err := o.good.Claim(ctx, limit, at, until, token)
					slices.Reverse(claimed)
					return claimed, err
				}
			}),
			map[string]string{
				"outbox entry ids are unique":                   "as they were",
				"outbox entries come back as enqueued":          "claimed are [d c b a], want [a b c d",
				"outbox session claims what it enqueued":        "the session claims [e",
				"outbox claim takes what is due":                "want [e",
				"outbox claim takes the oldest first":           "claimed",
				"outbox claim marks what it takes":              "once the lease has ended, another claim takes [b a",
				"outbox claim can be rolled back":               "claimed after the rollback are [e",
				"outbox untried entry is given back":            "claimed again are [b a], want [a b",
				"outbox settlement under a lost lease is stale": "due after the lease are [b a], want [a b",
				"outbox requeue makes erasures new":             "then claimed are [b a c], want [c a b",
				"outbox withdraw leaves others alone":           "left are [longer the tenant another tenant another number an erasure of",
			},
		},
		"by age alone": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
					claimed, err := o.good.Claim(ctx, limit, at, until, token)
					slices.Reverse(claimed)
					slices.SortStableFunc(claimed, func(a, b domain.OutboxEntry) int { return a.EnqueuedAt.Compare(b.EnqueuedAt) })
					return claimed, err
				}
			}),
			map[string]string{
				"outbox claim takes the oldest first": "claimed [b a], want [a b",
				"outbox requeue makes erasures new":   "then claimed are [c b a], want [c a b",
			},
		},
		"what is in flight, by anybody": {
			func(store *Store) {
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
			},
			map[string]string{
				"outbox claim takes an expired lease":            "claimed once the lease has ended are [a a], want [a",
				"outbox claim keeps to the limit":                "of 4 entries: 5 were claimed",
				"outbox claim can be rolled back":                "claimed after the rollback are [e",
				"outbox claims share no entry":                   "was claimed 2 times",
				"outbox untried entry is given back":             "claimed again are [a b a], want [a b",
				"outbox abandoned erasures hold completion back": "2 entries are due after the requeue, want 1",
				"outbox requeue makes erasures new":              "then claimed are [c a b c], want [c a b",
				"outbox withdraw leaves others alone":            "left are [an erasure of the subject another number another tenant the",
			},
		},
		"only what was never tried": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
					claimed, err := o.good.Claim(ctx, limit, at, until, token)
					return slices.DeleteFunc(claimed, func(e domain.OutboxEntry) bool { return e.Attempts > 1 }), err
				}
			}),
			map[string]string{
				"outbox claim takes what is due":                "pending], want [e",
				"outbox claim leaves what is settled for good":  "due are [], want only e",
				"outbox claim takes an entry at its instant":    "is not due at its instant",
				"outbox claim takes an expired lease":           "claimed once the lease has ended are [], want [a",
				"outbox claim marks what it takes":              "once the lease has ended, another claim takes",
				"outbox next attempt is a failure's":            "what failed is not due at its next attempt",
				"outbox failure is tried again in its time":     "due at its next attempt are [], want [a",
				"outbox settlement under a lost lease is stale": "due after the lease are [b], want [a b",
			},
		},
		"what was abandoned": {
			changesOutbox(func(o *brokenOutbox) {
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
			}),
			map[string]string{
				"outbox claim leaves what is settled for good":   "which is not settled",
				"outbox abandoned erasures hold completion back": "2 entries are due after the requeue, want 1",
			},
		},
		"attempts that are not counted": {
			changesClaimed(func(e *domain.OutboxEntry) { e.Attempts-- }),
			map[string]string{
				"outbox entries come back as enqueued":          "has Attempts 0, want 1",
				"outbox claim takes an expired lease":           "a has Attempts",
				"outbox claim marks what it takes":              "has Attempts 0, want 1",
				"outbox claim can be rolled back":               "has Attempts 0, want 1",
				"outbox claims share no entry":                  "was claimed at attempt 0, or under the lease of another",
				"outbox failure is tried again in its time":     "a has Attempts 1, want 2",
				"outbox untried entry is given back":            "has Attempts 0, want 1",
				"outbox settlement under a lost lease is stale": "has Attempts",
				"outbox requeue makes erasures new":             "has Attempts 0, want 1",
				"outbox withdraw leaves others alone":           "has Attempts 0, want 1",
			},
		},
		"no time of the attempt": {
			changesClaimed(func(e *domain.OutboxEntry) { e.LastAttemptAt = nil }),
			map[string]string{
				"outbox instants are in UTC and microseconds":   "want 1 with its instants",
				"outbox entries come back as enqueued":          "has LastAttemptAt <nil>, want",
				"outbox claim takes an expired lease":           "a has LastAttemptAt <nil>, want",
				"outbox claim marks what it takes":              "has LastAttemptAt <nil>, want",
				"outbox claim can be rolled back":               "has LastAttemptAt <nil>, want",
				"outbox failure is tried again in its time":     "a has LastAttemptAt <nil>, want",
				"outbox untried entry is given back":            "has LastAttemptAt <nil>, want",
				"outbox settlement under a lost lease is stale": "has LastAttemptAt <nil>, want",
				"outbox requeue makes erasures new":             "has LastAttemptAt <nil>, want",
				"outbox withdraw leaves others alone":           "has LastAttemptAt <nil>, want",
			},
		},
		"the status that it had": {
			changesClaimed(func(e *domain.OutboxEntry) { e.Status = domain.OutboxPending }),
			map[string]string{
				"outbox entries come back as enqueued":          "has Status pending, want in_flight",
				"outbox claim takes an expired lease":           "a has Status pending, want in_flight",
				"outbox claim marks what it takes":              "has Status pending, want in_flight",
				"outbox claim can be rolled back":               "has Status pending, want in_flight",
				"outbox failure is tried again in its time":     "a has Status pending, want in_flight",
				"outbox untried entry is given back":            "has Status pending, want in_flight",
				"outbox settlement under a lost lease is stale": "has Status pending, want in_flight",
				"outbox requeue makes erasures new":             "has Status pending, want in_flight",
				"outbox withdraw leaves others alone":           "has Status pending, want in_flight",
			},
		},
		"an error that is forgotten": {
			changesClaimed(func(e *domain.OutboxEntry) { e.LastError = nil }),
			map[string]string{
				"outbox failure is tried again in its time": "a has LastError <nil>, want timeout",
			},
		},
		"a lease of its own length": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
					claimed, err := o.good.Claim(ctx, limit, at, until.Add(lease), token)
					return each(claimed, err, func(e *domain.OutboxEntry) { e.NextAttemptAt = &until })
				}
			}),
			map[string]string{
				"outbox instants are in UTC and microseconds":   "NextAttemptAt is",
				"outbox claim takes an entry at its instant":    "is not due at its instant",
				"outbox claim takes an expired lease":           "claimed once the lease has ended are [], want [a",
				"outbox claim marks what it takes":              "once the lease has ended, another claim takes",
				"outbox settlement under a lost lease is stale": "a settlement under an earlier lease as succeeded came to [completes",
			},
		},
		"one token for all": {
			changesOutbox(func(o *brokenOutbox) {
				o.claim = func(ctx context.Context, limit int, at, until time.Time, _ string) ([]domain.OutboxEntry, error) {
					return o.good.Claim(ctx, limit, at, until, "token")
				}
			}),
			map[string]string{
				"outbox entries come back as enqueued":          "has LeaseToken token, want lease of",
				"outbox claim takes an expired lease":           "a has LeaseToken token, want lease of",
				"outbox claim marks what it takes":              "has LeaseToken token, want lease of",
				"outbox claim can be rolled back":               "has LeaseToken token, want lease of",
				"outbox claims share no entry":                  "was claimed at attempt 1, or under the lease of another",
				"outbox failure is tried again in its time":     "a has LeaseToken token, want lease of",
				"outbox untried entry is given back":            "has LeaseToken token, want lease of",
				"outbox settlement under a lost lease is stale": "a settlement under an earlier lease as succeeded came to [completes",
				"outbox requeue makes erasures new":             "has LeaseToken token, want lease of",
				"outbox withdraw leaves others alone":           "has LeaseToken token, want lease of",
			},
		},
		"at once, in a session of its own": {
			func(store *Store) {
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
			},
			map[string]string{
				"outbox keeps copies":                           "0 entries were claimed, want 1",
				"outbox session claims what it enqueued":        "the session claims",
				"outbox claim takes what is due":                "before the lease ends: due are [e",
				"outbox claim marks what it takes":              "an entry is not in flight under the token that it was claimed with",
				"outbox claim can be rolled back":               "after the rollback",
				"outbox settlement under a lost lease is stale": "due after the lease are [a], want [a b",
			},
		},
	}
}
