package memory

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// operationOf identifies one erasure or rectification of a subject, which can have several outbox entries. Entries
// without an operation id belong to the same operationOf if they have the same subject and operation.
type operationOf struct {
	subject   domain.SubjectID
	operation domain.Operation
	id        string
}

func ofEntry(e *domain.OutboxEntry) operationOf {
	return operationOf{e.SubjectID, e.Operation, e.OperationID}
}

// openOperations returns the operations that are incomplete because of an entry. An abandoned rectification does not
// count, because the application issues such a rectification again.
func (s *state) openOperations() map[operationOf]bool {
	open := map[operationOf]bool{}
	for i := range s.entries {
		e := &s.entries[i]
		if e.Status != domain.OutboxSucceeded &&
			(e.Operation != domain.OperationRectify || e.Status != domain.OutboxAbandoned) {
			open[ofEntry(e)] = true
		}
	}
	return open
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
	indexOf := map[string]int{} // by EntryID
	for i := range state.entries {
		indexOf[state.entries[i].EntryID] = i
	}
	results := make([]domain.SettleResult, len(settlements))
	var leased []int             // indexes of the entries to settle
	settling := map[string]int{} // by EntryID: the index of the settlement
	for i, settlement := range settlements {
		id := settlement.Entry.EntryID
		_, again := settling[id]
		if index, found := indexOf[id]; found && !again && holdsLease(&state.entries[index], settlement) {
			leased, settling[id] = append(leased, index), i
		} else {
			results[i].Stale = true
		}
	}
	changed := state.change(leased, func(e *domain.OutboxEntry) { settle(e, settlements[settling[e.EntryID]]) })
	last := map[operationOf]int{} // by operation: the index of its last settlement that succeeded
	for i := range changed {
		if changed[i].Status == domain.OutboxSucceeded {
			last[ofEntry(&changed[i])] = settling[changed[i].EntryID]
		}
	}
	open := state.openOperations()
	for of, i := range last {
		results[i].Completes = !open[of]
	}
	return results, nil
}

// holdsLease reports whether the entry still has the lease token of the settlement.
func holdsLease(e *domain.OutboxEntry, settlement domain.Settlement) bool {
	return e.LeaseToken != nil && equal(e.LeaseToken, settlement.Entry.LeaseToken)
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
	if outcome.Status == domain.OutboxSucceeded || abandoned && e.Operation == domain.OperationRectify {
		forget(e)
	}
}
