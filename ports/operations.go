package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// OutboxOperations are the operations on an outbox for operators. In the stores of this module, the Outbox of a session
// also implements OutboxOperations. OperationsOf returns the OutboxOperations of an outbox. The services also work with
// a store that does not implement OutboxOperations.
type OutboxOperations interface {
	// Backlog returns a line for each resolver with entries that have not succeeded, in the order of the resolvers' names.
	// See domain.OutboxBacklog for a line. Backlog only reads, and reads only an index.
	Backlog(ctx context.Context) ([]domain.OutboxBacklog, error)

	// RequeueMatching makes up to limit abandoned erasures that match the filter pending again, as Outbox.Requeue does. It
	// takes the entries that were enqueued first and returns them, oldest first. To requeue all of them, call
	// RequeueMatching again until it returns no entry. An empty filter matches all entries. A limit of 0 or less requeues
	// no entry.
	RequeueMatching(ctx context.Context, filter domain.OutboxFilter, limit int) ([]domain.OutboxEntry, error)

	// Discard marks abandoned entries as succeeded, because a person has handled them by other means. It returns the
	// results, oldest first by (EnqueuedAt, EntryID). It clears the refs, corrections and errors of the entries. It
	// ignores entries that are not abandoned.
	//
	// Discarded.Completes is set on the last returned entry of an erasure if all entries of the erasure have then
	// succeeded. Discard decides this under the lock of Outbox.Settle. Completes is never set for a rectification, because
	// an abandoned rectification does not block the completion of its operation.
	Discard(ctx context.Context, entryIDs []string) ([]domain.Discarded, error)

	// FirstClaims returns, for each given entry that was requeued, the instant of the first claim after the last requeue.
	// The map leaves out entries that were never requeued, and entries that were not claimed after the last requeue.
	FirstClaims(ctx context.Context, entryIDs []string) (map[string]time.Time, error)
}

// OperationsOf returns the operations of an outbox. Returns domain.ErrConfiguration if the outbox does not implement
// OutboxOperations.
func OperationsOf(outbox Outbox) (OutboxOperations, error) {
	if operations, ok := outbox.(OutboxOperations); ok {
		return operations, nil
	}
	return nil, &domain.Error{
		Code: domain.ErrConfiguration, Op: "outbox", Message: "the store does not implement ports.OutboxOperations",
	}
}
