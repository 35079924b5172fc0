package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// OutboxOperations are the operations on an outbox that operators need, such as the requeue of many entries. In the
// stores of this module, the Outbox of a session also implements OutboxOperations. The function OperationsOf returns
// the OutboxOperations of an outbox. The services also work with a store that does not implement OutboxOperations.
type OutboxOperations interface {
	// Backlog returns the number and the age of the outbox entries that have not succeeded, for each resolver that has
	// such entries. The result is in the order of the names of the resolvers. Backlog only reads, and it reads only an
	// index.
	Backlog(ctx context.Context) ([]domain.OutboxBacklog, error)

	// RequeueMatching works like Outbox.Requeue, but selects the abandoned entries by a filter. It requeues at most limit
	// entries, oldest first, and returns them. To requeue all matching entries, call RequeueMatching again until it
	// returns no entry. An empty filter matches all entries. A limit of 0 or less requeues no entry.
	RequeueMatching(ctx context.Context, filter domain.OutboxFilter, limit int) ([]domain.OutboxEntry, error)

	// Discard marks abandoned outbox entries as succeeded, because a person has handled them by other means. It clears the
	// corrections, errors and refs (the ids of subjects in external systems) of the entries. It returns the discarded
	// entries, oldest first by (EnqueuedAt, EntryID). It ignores the ids of entries that are not abandoned.
	//
	// Discarded.Completes is set on the last returned entry of an erasure if all entries of this erasure have succeeded
	// after the call. Discard takes the lock of Outbox.Settle before it decides this. Completes is never set for a
	// rectification. Outbox.Settle does not wait for abandoned entries before it reports a rectification as complete, so
	// Discard cannot complete one.
	Discard(ctx context.Context, entryIDs []string) ([]domain.Discarded, error)

	// FirstClaims returns, for each of the given outbox entries, the instant of its first claim. A requeue begins anew:
	// the first claim is then the first one after it. A claim that a settlement with the status pending has released does
	// not count. The map leaves out entries without such a claim.
	FirstClaims(ctx context.Context, entryIDs []string) (map[string]time.Time, error)
}

// OperationsOf returns the operations of an outbox. OperationsOf returns domain.ErrConfiguration if the outbox does not
// implement OutboxOperations.
func OperationsOf(outbox Outbox) (OutboxOperations, error) {
	if operations, ok := outbox.(OutboxOperations); ok {
		return operations, nil
	}
	return nil, &domain.Error{
		Code: domain.ErrConfiguration, Op: "outbox", Message: "the store does not implement ports.OutboxOperations",
	}
}
