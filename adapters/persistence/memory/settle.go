package memory

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// operationOf is what completes as a whole: one erasure, or one rectification. A subject's entries without the id of
// their operation count as one.
type operationOf struct {
	subject   domain.SubjectID
	operation domain.Operation
	id        string
}

func ofEntry(e domain.OutboxEntry) operationOf {
	return operationOf{e.SubjectID, e.Operation, e.OperationID}
}

// leavesOpen reports whether the operation is not complete because of the entry. An abandoned rectification is issued
// anew and does not count.
func (of operationOf) leavesOpen(e domain.OutboxEntry) bool {
	if of != ofEntry(e) || e.Status == domain.OutboxSucceeded {
		return false
	}
	return e.Operation != domain.OperationRectify || e.Status != domain.OutboxAbandoned
}

// Settle decides what completes when all outcomes are written, and under the write lock: of the sessions that settle a
// subject's entries at the same time, the last one sees that none is left open.
func (o outbox) Settle(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
	if len(settlements) == 0 {
		return nil, o.usable()
	}
	state, err := o.write(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]domain.SettleResult, len(settlements))
	last := map[operationOf]int{} // the last settlement of each operation that succeeded
	for i, settlement := range settlements {
		leased := state.oldest(func(e domain.OutboxEntry) bool {
			return e.EntryID == settlement.Entry.EntryID && e.LeaseToken != nil &&
				equal(e.LeaseToken, settlement.Entry.LeaseToken)
		})
		results[i].Stale = len(leased) == 0
		for _, entry := range state.change(leased, func(e *domain.OutboxEntry) { settle(e, settlement) }) {
			if entry.Status == domain.OutboxSucceeded {
				last[ofEntry(entry)] = i
			}
		}
	}
	for of, i := range last {
		results[i].Completes = !slices.ContainsFunc(state.entries, of.leavesOpen)
	}
	return results, nil
}

// settle writes an outcome into the entry. Its lease ends with it.
func settle(e *domain.OutboxEntry, outcome domain.Settlement) {
	failed, abandoned := outcome.Status == domain.OutboxFailed, outcome.Status == domain.OutboxAbandoned
	e.Status, e.LastError, e.NextAttemptAt, e.LeaseToken = outcome.Status, nil, nil, nil
	if (failed || abandoned) && outcome.LastError != "" {
		e.LastError = &outcome.LastError
	}
	if failed {
		e.NextAttemptAt = outcome.NextAttemptAt
	}
	if outcome.Status == domain.OutboxPending { // it was never tried
		e.Attempts--
	}
	if outcome.Status == domain.OutboxSucceeded || abandoned && e.Operation == domain.OperationRectify {
		forget(e)
	}
}
