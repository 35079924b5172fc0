package porttest

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

// changesSettlements returns a function that makes a store defective: its Settle passes each settlement through fn
// before it stores the settlement.
func changesSettlements(fn func(*domain.Settlement)) func(*Store) {
	return brokenOutbox{settle: func(c outboxCall) (results, error) {
		c.settlements = changed(slices.Clone(c.settlements), fn)
		return c.settle()
	}}.breaks
}

// changesResults returns a function that makes a store defective: its Settle passes the results through fn before it
// returns them.
func changesResults(fn func(settlements []domain.Settlement, results []domain.SettleResult)) func(*Store) {
	return brokenOutbox{settle: func(c outboxCall) (results, error) {
		results, err := c.settle()
		if err == nil {
			fn(c.settlements, results)
		}
		return results, err
	}}.breaks
}

// changesSuccess returns a function that makes a store defective: it calls fn for each entry that has succeeded. The
// second argument of fn is the entry as Claim returned it.
func changesSuccess(fn func(entry *domain.OutboxEntry, was domain.OutboxEntry)) func(*Store) {
	return func(store *Store) {
		var seen remembered
		changesTaken(func(_ outboxCall, taken entries) entries { seen.note(taken...); return taken })(store)
		stored := store.Entries
		store.Entries = func(t testing.TB) []domain.OutboxEntry {
			t.Helper()
			entries := stored(t)
			for i := range entries {
				if was, ok := seen.get(entries[i].EntryID); ok && entries[i].Status == domain.OutboxSucceeded {
					fn(&entries[i], was)
				}
			}
			return entries
		}
	}
}

// changesAbandoned returns a function that makes a store defective: it passes each abandoned entry through fn before it
// returns the entry. It also adds each enqueued entry to seen.
func changesAbandoned(seen *remembered, fn func(*domain.OutboxEntry)) func(*Store) {
	return brokenOutbox{
		enqueue:   func(c outboxCall) error { seen.note(c.entries...); return c.enqueue() },
		abandoned: func(c outboxCall) (entries, error) { return changesEach(fn)(c.abandoned()) },
		withdraw:  func(c outboxCall) (entries, error) { return changesEach(fn)(c.withdraw()) },
		requeue:   func(c outboxCall) (entries, error) { return changesEach(fn)(c.requeue()) },
	}.breaks
}

// keepsAbandoned returns a function that makes a store defective: an abandoned entry still has values that the store
// should have cleared. fn copies these values to the entry from its second argument, the entry as it was enqueued.
func keepsAbandoned(fn func(entry *domain.OutboxEntry, was domain.OutboxEntry)) func(*Store) {
	seen := &remembered{}
	return changesAbandoned(seen, func(e *domain.OutboxEntry) {
		if was, ok := seen.get(e.EntryID); ok {
			fn(e, was)
		}
	})
}

func settleDefects() defects {
	return defects{
		"nothing is stale": {changesResults(func(_ []domain.Settlement, results []domain.SettleResult) {
			for i := range results {
				results[i].Stale = false
			}
		}), found{"for the second time, an entry resulted in [applied": {outboxSettlementEndsTheLease}}},
		"nothing is spared": {changesSettlements(func(s *domain.Settlement) {
			if s.Status == domain.OutboxSpared {
				s.Status = domain.OutboxSucceeded
			}
		}), found{"listed are [d], want the two spared": {outboxSparedEntryWaitsForAnOperator}}},
		"under whichever lease": {func(store *Store) {
			var seen remembered
			changesTaken(func(_ outboxCall, taken entries) entries { seen.note(taken...); return taken })(store)
			changesSettlements(func(s *domain.Settlement) {
				if held, ok := seen.get(s.Entry.EntryID); ok {
					s.Entry.LeaseToken = held.LeaseToken
				}
			})(store)
		}, found{
			"an entry is not in flight under the token that it was claimed with": {outboxClaimMarksItsEntries},
			"earlier lease as succeeded resulted in [completes": {
				outboxSettlementUnderALostLeaseIsStale,
			},
			"a batch resulted in [completes applied completes applied completes applied": {outboxResultsAreInOrder},
		}},
		"results in another order": {
			changesResults(func(_ []domain.Settlement, results []domain.SettleResult) { slices.Reverse(results) }),
			found{
				"two settlements of each entry resulted in [stale stale completes applied]": {outboxEntryIsSettledOnceInACall},
			},
		},
		"results of applied settlements only": {brokenOutbox{settle: func(c outboxCall) (results, error) {
			came, err := c.settle()
			return slices.DeleteFunc(came, func(r domain.SettleResult) bool { return r.Stale }), err
		}}.breaks, found{"4 settlements have 0 results": {outboxSettlementEndsTheLease}}},
		"a failure is retried immediately": {
			changesSettlements(func(s *domain.Settlement) { s.NextAttemptAt = nil }),
			found{"the next attempt changed": {outboxKeepsCopies}, "due are [e": {outboxClaimTakesDueEntries}},
		},
		"an error is not kept": {changesSettlements(func(s *domain.Settlement) { s.LastError = "" }), found{
			"is listed as abandoned, or without its error": {outboxAbandonedEntriesComeByAge},
		}},
		"an entry without an attempt has failed": {changesSettlements(func(s *domain.Settlement) {
			if s.Status == domain.OutboxPending {
				s.Status, s.NextAttemptAt = domain.OutboxFailed, nil
			}
		}), found{
			"0 entries are pending, want 2":                              {outboxUntriedEntryIsGivenBack},
			"counted are map[abandoned:2 failed:4 in_flight:1 pending:4": {outboxCountsHaveEveryStatus},
		}},
		"an entry without an attempt waits": {changesSettlements(func(s *domain.Settlement) {
			if s.Status == domain.OutboxPending && s.NextAttemptAt != nil {
				s.Status = domain.OutboxFailed
			}
		}), found{"an entry that was given back is not due immediately": {outboxNextAttemptIsAFailures}}},
		"an abandoned entry waits": {
			changesAbandoned(&remembered{}, func(e *domain.OutboxEntry) { e.NextAttemptAt = &noon }),
			found{"an abandoned entry has a next attempt": {outboxNextAttemptIsAFailures}},
		},
		"an abandoned entry has succeeded": {changesSettlements(func(s *domain.Settlement) {
			if s.Status == domain.OutboxAbandoned {
				s.Status = domain.OutboxSucceeded
			}
		}), found{"counted are map[abandoned:0 failed:3 in_flight:1 pending:5": {outboxCountsHaveEveryStatus}}},
		"an abandoned erasure without its ref": {changesAbandoned(&remembered{}, func(e *domain.OutboxEntry) {
			if e.Operation == domain.OperationErase {
				e.Ref = domain.SubjectRef{Kind: e.Resolver}
			}
		}), found{"a has lost the Extra of its ref": {outboxAbandonedErasureKeepsItsRef}}},
		"an abandoned rectification with its ref": {
			keepsAbandoned(func(e *domain.OutboxEntry, was domain.OutboxEntry) { e.Ref = was.Ref }),
			found{
				"a still has its ref": {outboxAbandonedRectificationIsForgotten},
				"still has its ref":   {outboxWithdrawAbandonsRectifications},
			},
		},
		"an abandoned rectification with its corrections": {
			keepsAbandoned(func(e *domain.OutboxEntry, was domain.OutboxEntry) { e.Corrections = was.Corrections }),
			found{"still has its corrections": {outboxWithdrawAbandonsRectifications}},
		},
		"a success with its ref": {
			changesSuccess(func(e *domain.OutboxEntry, was domain.OutboxEntry) { e.Ref = was.Ref }),
			found{"a still has its ref": {outboxSuccessIsForgotten}},
		},
		"a success with its corrections": {
			changesSuccess(func(e *domain.OutboxEntry, was domain.OutboxEntry) { e.Corrections = was.Corrections }),
			found{"b still has its corrections": {outboxSuccessIsForgotten}},
		},
		"a success with its lease": {
			changesSuccess(func(e *domain.OutboxEntry, was domain.OutboxEntry) { e.LeaseToken = was.LeaseToken }),
			found{"a is stored as succeeded, or with a lease": {outboxSuccessIsForgotten}},
		},
		"a lease that goes on": {
			changesAbandoned(&remembered{}, func(e *domain.OutboxEntry) { token := "token"; e.LeaseToken = &token }),
			found{"an abandoned entry still has a lease token": {outboxSettlementEndsTheLease}},
		},
	}
}
