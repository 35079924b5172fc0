package memory

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// operationOf identifies one erasure or rectification of a subject, which can have several outbox entries. Entries
// without an operation id belong to the same operationOf if they have the same subject and operation.
type operationOf struct {
	subject   domain.SubjectID
	operation domain.Operation
	id        string
}

func ofEntry(e domain.OutboxEntry) operationOf {
	return operationOf{e.SubjectID, e.Operation, e.OperationID}
}

// leavesOpen reports whether the operation is incomplete because of the entry e. It returns false for an abandoned
// rectification, because the application issues such a rectification again.
func (of operationOf) leavesOpen(e domain.OutboxEntry) bool {
	if of != ofEntry(e) || e.Status.IsDone() {
		return false
	}
	return e.Operation != domain.OperationRectify || e.Status != domain.OutboxAbandoned
}

// Settle implements ports.Outbox. It holds the write lock and writes all outcomes before it checks which operations are
// complete. If several sessions settle entries of one operation, only the last of these sessions reports the operation
// as complete.
func (o outbox) Settle(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
	if len(settlements) == 0 {
		return nil, o.usable()
	}
	state, err := o.write(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]domain.SettleResult, len(settlements))
	last := map[operationOf]int{} // by operation: the index of its last settlement that succeeded
	for i, settlement := range settlements {
		leased := state.oldest(func(e domain.OutboxEntry) bool {
			return e.EntryID == settlement.Entry.EntryID && e.LeaseToken != nil &&
				equal(e.LeaseToken, settlement.Entry.LeaseToken)
		})
		results[i].Stale = len(leased) == 0
		for _, entry := range state.change(leased, func(e *domain.OutboxEntry) { settle(e, settlement) }) {
			if entry.Attempts == 0 { // released without a call, so its next claim is the first one
				state.forgetFirstClaims(entry)
			}
			if entry.Status.IsDone() {
				last[ofEntry(entry)] = i
			}
		}
	}
	for of, i := range last {
		results[i].Completes = !slices.ContainsFunc(state.entries, of.leavesOpen)
	}
	return results, nil
}

// settle stores the outcome of an attempt in the outbox entry, and removes the lease of the entry.
func settle(e *domain.OutboxEntry, outcome domain.Settlement) {
	failed, abandoned := outcome.Status == domain.OutboxFailed, outcome.Status == domain.OutboxAbandoned
	e.Status, e.LastError, e.NextAttemptAt, e.LeaseToken = outcome.Status, nil, nil, nil
	if (failed || abandoned) && outcome.LastError != "" {
		e.LastError = &outcome.LastError
	}
	if failed {
		e.NextAttemptAt = outcome.NextAttemptAt
	}
	if outcome.Status == domain.OutboxPending { // the worker has released the entry without a call
		e.Attempts--
	}
	if outcome.Status.IsDone() || abandoned && e.Operation == domain.OperationRectify {
		forget(e)
	}
}
