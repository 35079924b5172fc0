package porttest

import (
	"context"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// completesBy returns a function that makes a store defective: its Settle has a wrong rule for SettleResult.Completes.
// It sets Completes for a success unless holdsBack returns true for the settled entry and another entry that has not
// succeeded.
func completesBy(holdsBack func(success, other domain.OutboxEntry) bool) func(*Store) {
	return func(store *Store) {
		var mu sync.Mutex
		known := map[string]domain.OutboxEntry{}
		note := func(entries entries) {
			mu.Lock()
			defer mu.Unlock()
			for _, entry := range entries {
				known[entry.EntryID] = entry
			}
		}
		brokenOutbox{
			enqueue: func(c outboxCall) error { note(c.entries); return c.enqueue() },
			claim: func(c outboxCall) (entries, error) {
				claimed, err := c.claim()
				note(claimed)
				return claimed, err
			},
			settle: func(c outboxCall) (results, error) {
				results, err := c.settle()
				mu.Lock()
				defer mu.Unlock()
				for i, result := range results {
					if !result.Stale {
						entry := c.settlements[i].Entry
						entry.Status = c.settlements[i].Status
						known[entry.EntryID] = entry
					}
				}
				completed := map[string]bool{} // ids of operations
				for i := len(results) - 1; i >= 0; i-- {
					entry := c.settlements[i].Entry
					operation := entry.SubjectID.String() + string(entry.Operation) + entry.OperationID
					results[i].Completes = !results[i].Stale && c.settlements[i].Status == domain.OutboxSucceeded &&
						!completed[operation]
					for _, other := range known {
						if other.EntryID != entry.EntryID && other.Status != domain.OutboxSucceeded && holdsBack(entry, other) {
							results[i].Completes = false
						}
					}
					completed[operation] = completed[operation] || results[i].Completes
				}
				return results, err
			},
		}.breaks(store)
	}
}

func sameOperation(a, b domain.OutboxEntry) bool {
	return a.SubjectID == b.SubjectID && a.Operation == b.Operation && a.OperationID == b.OperationID
}

func forgotten(e domain.OutboxEntry) bool {
	return e.Operation == domain.OperationRectify && e.Status == domain.OutboxAbandoned
}

func completeDefects() defects {
	return defects{
		"by the rule": {
			completesBy(func(success, other domain.OutboxEntry) bool {
				return sameOperation(success, other) && !forgotten(other)
			}),
			found{},
		},
		"never": {changesResults(func(_ []domain.Settlement, results []domain.SettleResult) {
			for i := range results {
				results[i].Completes = false
			}
		}), found{
			"settled again after the rollback, the entry resulted in [applied": {outboxSettlementCanBeRolledBack},
			"resulted in [applied": {outboxLastSuccessCompletes},
		}},
		"with every success": {completesBy(func(_, _ domain.OutboxEntry) bool { return false }), found{
			"another entry": {outboxOpenEntriesHoldCompletionBack},
			"8 of the 8 sessions that settled a subject's entries completed it, want": {outboxConcurrentSettlementsCompleteOnce},
			"two sessions that settled a subject's last entries at the same time got": {
				outboxOverlappingSettlementsCompleteOnce,
			},
		}},
		"with each success of a call": {changesResults(func(settlements []domain.Settlement, results []domain.SettleResult) {
			for i, s := range settlements {
				for j, other := range settlements {
					if results[i].Completes && sameOperation(s.Entry, other.Entry) && other.Status == domain.OutboxSucceeded {
						results[j].Completes = true
					}
				}
			}
		}), found{"d resulted in [completes completes], want [applied completes": {outboxLastSuccessCompletes}}},
		"with the first success of a call": {
			changesResults(func(settlements []domain.Settlement, results []domain.SettleResult) {
				for i, s := range settlements {
					for j, other := range settlements[:i] {
						if results[i].Completes && sameOperation(s.Entry, other.Entry) && other.Status == domain.OutboxSucceeded {
							results[i].Completes, results[j].Completes = false, true
						}
					}
				}
			}),
			found{"d resulted in [completes applied], want [applied completes": {outboxLastSuccessCompletes}},
		},
		"only when no operation of the kind is open": {completesBy(func(success, other domain.OutboxEntry) bool {
			other.OperationID = success.OperationID
			return sameOperation(success, other) && !forgotten(other)
		}), found{
			"with another operation open, the last success resulted in [applied": {outboxOperationsCompleteOneByOne},
		}},
		"only when nothing of the subject is open": {completesBy(func(success, other domain.OutboxEntry) bool {
			return success.SubjectID == other.SubjectID && !forgotten(other)
		}), found{"d resulted in [applied applied], want [applied completes": {outboxLastSuccessCompletes}}},
		"only when nothing of the operation is open": {completesBy(func(success, other domain.OutboxEntry) bool {
			return success.Operation == other.Operation && !forgotten(other)
		}), found{
			"after an abandoned rectification, a success resulted in [applied": {outboxAbandonedRectificationsHoldNothingBack},
		}},
		"despite failed entries": {completesBy(func(success, other domain.OutboxEntry) bool {
			return sameOperation(success, other) && !forgotten(other) && other.Status != domain.OutboxFailed
		}), found{"another entry": {outboxOpenEntriesHoldCompletionBack}}},
		"despite entries that were given back": {completesBy(func(success, other domain.OutboxEntry) bool {
			return sameOperation(success, other) && !forgotten(other) && other.Status != domain.OutboxPending
		}), found{"another entry": {outboxOpenEntriesHoldCompletionBack}}},
		"despite entries in flight": {completesBy(func(success, other domain.OutboxEntry) bool {
			return sameOperation(success, other) && !forgotten(other) && other.Status != domain.OutboxInFlight
		}), found{"another entry": {outboxOpenEntriesHoldCompletionBack}}},
		"despite abandoned erasures": {completesBy(func(success, other domain.OutboxEntry) bool {
			return sameOperation(success, other) && other.Status != domain.OutboxAbandoned
		}), found{"a success completed although": {outboxAbandonedErasuresHoldCompletionBack}}},
		"not with abandoned rectifications": {completesBy(sameOperation), found{
			"abandoned rectification": {outboxAbandonedRectificationsHoldNothingBack},
		}},
	}
}

// Other cases detect this defect only by chance, because it depends on the timing of the sessions. The case for
// overlapping settlements always detects it.
func TestCompletionThatIsDecidedBeforeTheLockIsFoundOut(t *testing.T) {
	promise.ExpectFailures(t, promisesOf(outboxOverlappingSettlementsCompleteOnce), inMemory(decidesBeforeTheLock), found{
		"want one that completes": {outboxOverlappingSettlementsCompleteOnce},
	})
}

func decidesBeforeTheLock(store *Store) {
	var mu sync.Mutex
	succeeded := 0 // the number of succeeded entries in sessions whose fn has returned
	changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		return do(ctx, func(ctx context.Context, s ports.Session) error {
			mine := 0
			o := brokenOutbox{wholeOutbox: wholeOutbox{Outbox: s.Outbox()}, settle: func(c outboxCall) (results, error) {
				mu.Lock()
				before := succeeded // read before the lock on the entries
				mu.Unlock()
				results, err := c.settle()
				mu.Lock()
				defer mu.Unlock()
				for i, result := range results {
					if !result.Stale && c.settlements[i].Status == domain.OutboxSucceeded {
						mine++
					}
					results[i].Completes = result.Completes && before == succeeded
				}
				return results, err
			}}
			err := fn(ctx, replacedStores{Session: s, outbox: o})
			mu.Lock() // while the lock on the entries is held
			defer mu.Unlock()
			succeeded += mine
			return err
		})
	})(store)
}
