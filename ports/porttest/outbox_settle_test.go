package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// changesSettlements is a defect of how an outcome is understood.
func changesSettlements(change func(*domain.Settlement)) func(*Store) {
	return changesOutbox(func(o *brokenOutbox) {
		o.settle = func(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
			changed := slices.Clone(settlements)
			for i := range changed {
				change(&changed[i])
			}
			return o.good.Settle(ctx, changed)
		}
	})
}

// changesResults is a defect of what a settlement is said to have come to.
func changesResults(change func(settlements []domain.Settlement, results []domain.SettleResult)) func(*Store) {
	return changesOutbox(func(o *brokenOutbox) {
		o.settle = func(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
			results, err := o.good.Settle(ctx, settlements)
			if err == nil {
				change(settlements, results)
			}
			return results, err
		}
	})
}

// changesSuccess is a defect of what is stored of an entry that has succeeded; was is the entry as it was claimed.
func changesSuccess(change func(entry *domain.OutboxEntry, was domain.OutboxEntry)) func(*Store) {
	return func(store *Store) {
		var seen remembered
		changesOutbox(func(o *brokenOutbox) {
			good := o.claim
			o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
				claimed, err := good(ctx, limit, at, until, token)
				seen.note(claimed...)
				return claimed, err
			}
		})(store)
		stored := store.Entries
		store.Entries = func(t testing.TB) []domain.OutboxEntry {
			t.Helper()
			entries := stored(t)
			for i := range entries {
				if was, ok := seen.get(entries[i].EntryID); ok && entries[i].Status == domain.OutboxSucceeded {
					change(&entries[i], was)
				}
			}
			return entries
		}
	}
}

// changesAbandoned is a defect of abandoned entries, wherever they are shown.
func changesAbandoned(seen *remembered, change func(*domain.OutboxEntry)) func(*Store) {
	return changesOutbox(func(o *brokenOutbox) {
		o.enqueue = func(ctx context.Context, entries ...domain.OutboxEntry) error {
			seen.note(entries...)
			return o.good.Enqueue(ctx, entries...)
		}
		o.abandoned = func(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
			found, err := o.good.Abandoned(ctx, after, limit)
			return each(found, err, change)
		}
		o.withdraw = func(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
			found, err := o.good.Withdraw(ctx, id)
			return each(found, err, change)
		}
		o.requeue = func(ctx context.Context, ids []string) ([]domain.OutboxEntry, error) {
			found, err := o.good.Requeue(ctx, ids)
			return each(found, err, change)
		}
	})
}

func settleDefects() map[string]storeDefect {
	return map[string]storeDefect{
		"nothing is stale": {
			changesResults(func(_ []domain.Settlement, results []domain.SettleResult) {
				for i := range results {
					results[i].Stale = false
				}
			}),
			map[string]string{
				"outbox settlement ends the lease":              "for the second time, an entry came to [applied",
				"outbox settlement under a lost lease is stale": "a settlement",
				"outbox results are in order":                   "a batch came to [completes applied completes applied completes applied",
				"outbox entry is settled once in a call":        "two settlements of each entry came to [applied completes applied",
				"outbox withdrawn entry has lost its lease":     "of a withdrawn entry came to [applied",
			},
		},
		"under whichever lease": {
			func(store *Store) {
				var seen remembered
				changesOutbox(func(o *brokenOutbox) {
					good := o.claim
					o.claim = func(ctx context.Context, limit int, at, until time.Time, token string) ([]domain.OutboxEntry, error) {
						claimed, err := good(ctx, limit, at, until, token)
						seen.note(claimed...)
						return claimed, err
					}
					o.settle = func(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
						changed := slices.Clone(settlements)
						for i := range changed {
							if held, ok := seen.get(changed[i].Entry.EntryID); ok {
								changed[i].Entry.LeaseToken = held.LeaseToken
							}
						}
						return o.good.Settle(ctx, changed)
					}
				})(store)
			},
			map[string]string{
				"outbox claim marks what it takes":              "an entry is not in flight under the token that it was claimed with",
				"outbox settlement under a lost lease is stale": "a settlement under an earlier lease as succeeded came to [completes",
				"outbox results are in order":                   "a batch came to [completes applied completes applied completes applied",
			},
		},
		"results in another order": {
			changesResults(func(_ []domain.Settlement, results []domain.SettleResult) { slices.Reverse(results) }),
			map[string]string{
				"outbox results are in order":            "a batch came to [stale applied completes applied completes applied",
				"outbox entry is settled once in a call": "two settlements of each entry came to [stale stale completes applied]",
				"outbox last success completes":          "d came to [completes applied], want [applied completes",
			},
		},
		"results of what was applied": {
			changesOutbox(func(o *brokenOutbox) {
				o.settle = func(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
					results, err := o.good.Settle(ctx, settlements)
					return slices.DeleteFunc(results, func(r domain.SettleResult) bool { return r.Stale }), err
				}
			}),
			map[string]string{
				"outbox settlement ends the lease":              "4 settlements have 0 results",
				"outbox settlement under a lost lease is stale": "1 settlements have 0 results",
				"outbox results are in order":                   "7 settlements have 6 results",
				"outbox entry is settled once in a call":        "4 settlements have 2 results",
				"outbox withdrawn entry has lost its lease":     "1 settlements have 0 results",
			},
		},
		"a failure is tried again at once": {
			changesSettlements(func(s *domain.Settlement) { s.NextAttemptAt = nil }),
			map[string]string{
				"outbox keeps copies":                        "the next attempt changed",
				"outbox claim takes what is due":             "due are [e",
				"outbox claim takes an entry at its instant": "is due a microsecond before its instant",
				"outbox failure is tried again in its time":  "what failed is due before its next attempt",
			},
		},
		"an error is not kept": {
			changesSettlements(func(s *domain.Settlement) { s.LastError = "" }),
			map[string]string{
				"outbox failure is tried again in its time":   "a has LastError <nil>, want timeout",
				"outbox abandoned erasure keeps its ref":      "a has LastError <nil>, want refused",
				"outbox abandoned rectification is forgotten": "a has LastError <nil>, want refused",
				"outbox abandoned entries come by age":        "is listed as abandoned, or without its error",
			},
		},
		"what was never tried has failed": {
			changesSettlements(func(s *domain.Settlement) {
				if s.Status == domain.OutboxPending {
					s.Status, s.NextAttemptAt = domain.OutboxFailed, nil
				}
			}),
			map[string]string{
				"outbox untried entry is given back": "0 entries are pending, want 2",
				"outbox next attempt is a failure's": "what was given back has an error",
				"outbox counts have every status":    "counted are map[abandoned:2 failed:4 in_flight:1 pending:4",
			},
		},
		"what was never tried waits": {
			changesSettlements(func(s *domain.Settlement) {
				if s.Status == domain.OutboxPending && s.NextAttemptAt != nil {
					s.Status = domain.OutboxFailed
				}
			}),
			map[string]string{"outbox next attempt is a failure's": "what was given back is not due at once"},
		},
		"what was abandoned waits": {
			changesAbandoned(&remembered{}, func(e *domain.OutboxEntry) { e.NextAttemptAt = &noon }),
			map[string]string{
				"outbox next attempt is a failure's":          "what was abandoned has a next attempt",
				"outbox abandoned erasure keeps its ref":      "a has NextAttemptAt",
				"outbox abandoned rectification is forgotten": "a has NextAttemptAt",
				"outbox requeue makes erasures new":           "has NextAttemptAt",
			},
		},
		"what was abandoned has succeeded": {
			changesSettlements(func(s *domain.Settlement) {
				if s.Status == domain.OutboxAbandoned {
					s.Status = domain.OutboxSucceeded
				}
			}),
			map[string]string{
				"outbox abandoned erasure keeps its ref":            "an abandonment came to [completes",
				"outbox abandoned rectification is forgotten":       "0 entries are abandoned, want 1",
				"outbox settlement ends the lease":                  "an abandoned entry still has a lease token",
				"outbox results are in order":                       "a batch came to [completes completes completes applied completes",
				"outbox entry is settled once in a call":            "settlement",
				"outbox abandoned erasures hold completion back":    "an abandoned erasure, a success c",
				"outbox abandoned rectifications hold nothing back": "in one call with abandoned rectifications, successes came to [applied",
				"outbox counts have every status":                   "counted are map[abandoned:0 failed:3 in_flight:1 pending:5",
				"outbox abandoned entries come by age":              "abandoned are [], want [a b c d e f g h",
				"outbox requeue makes erasures new":                 "ed are [], want [c a b",
				"outbox requeue leaves the rest alone":              "abandoned",
			},
		},
		"an abandoned erasure without its ref": {
			changesAbandoned(&remembered{}, func(e *domain.OutboxEntry) {
				if e.Operation == domain.OperationErase {
					e.Ref = domain.SubjectRef{Kind: e.Resolver}
				}
			}),
			map[string]string{
				"outbox abandoned erasure keeps its ref": "a has lost what its ref carries besides",
				"outbox requeue makes erasures new":      "c has lost what its ref carries besides",
			},
		},
		"an abandoned rectification with its ref": {
			func(store *Store) {
				seen := &remembered{}
				changesAbandoned(seen, func(e *domain.OutboxEntry) {
					if was, ok := seen.get(e.EntryID); ok {
						e.Ref = was.Ref
					}
				})(store)
			},
			map[string]string{
				"outbox abandoned rectification is forgotten": "a still has its ref",
				"outbox withdraw abandons rectifications":     "still has its ref",
			},
		},
		"an abandoned rectification with its corrections": {
			func(store *Store) {
				seen := &remembered{}
				changesAbandoned(seen, func(e *domain.OutboxEntry) {
					if was, ok := seen.get(e.EntryID); ok {
						e.Corrections = was.Corrections
					}
				})(store)
			},
			map[string]string{
				"outbox abandoned rectification is forgotten": "corrections",
				"outbox withdraw abandons rectifications":     "still has its corrections",
			},
		},
		"a success with its ref": {
			changesSuccess(func(e *domain.OutboxEntry, was domain.OutboxEntry) { e.Ref = was.Ref }),
			map[string]string{"outbox success is forgotten": "a still has its ref"},
		},
		"a success with its corrections": {
			changesSuccess(func(e *domain.OutboxEntry, was domain.OutboxEntry) { e.Corrections = was.Corrections }),
			map[string]string{"outbox success is forgotten": "b still has its corrections"},
		},
		"a success with its lease": {
			changesSuccess(func(e *domain.OutboxEntry, was domain.OutboxEntry) { e.LeaseToken = was.LeaseToken }),
			map[string]string{"outbox success is forgotten": "a is stored as succeeded, or with a lease"},
		},
		"a lease that goes on": {
			changesAbandoned(&remembered{}, func(e *domain.OutboxEntry) { token := "token"; e.LeaseToken = &token }),
			map[string]string{
				"outbox abandoned erasure keeps its ref":      "a has LeaseToken token, want <nil>",
				"outbox abandoned rectification is forgotten": "a has LeaseToken token, want <nil>",
				"outbox settlement ends the lease":            "an abandoned entry still has a lease token",
				"outbox requeue makes erasures new":           "has LeaseToken token, want <nil>",
				"outbox withdraw abandons rectifications":     "is abandoned, or still has its lease",
			},
		},
	}
}
