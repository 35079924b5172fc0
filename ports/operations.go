package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// OutboxOperations are the operations for operators of an outbox. In the stores of this module, the Outbox of a session
// implements it too; OperationsOf finds it. The engines work without it if a store does not have it.
type OutboxOperations interface {
	// Backlog returns, for each resolver that has entries that are not settled for good, and in the order of their names,
	// how many there are by status, and since when. It only reads, and reads no more than an index has.
	Backlog(ctx context.Context) ([]domain.OutboxBacklog, error)

	// RequeueMatching makes up to limit abandoned erasures that match the filter pending again, as Outbox.Requeue does,
	// and returns them, oldest first. It takes those that were enqueued first. A caller with more of them calls again
	// until none is returned. An empty filter matches all; a limit of 0 or less stands for none.
	RequeueMatching(ctx context.Context, filter domain.OutboxFilter, limit int) ([]domain.OutboxEntry, error)

	// Discard makes abandoned entries succeeded, because a person has dealt with them by other means, and returns the
	// results, oldest first by (EnqueuedAt, EntryID). It clears their refs, corrections and errors. Entries that are not
	// abandoned are left as they are and not returned. Discarded.Completes is set for the last returned entry of an
	// erasure if all its entries have succeeded, decided under the lock of Outbox.Settle. It is never set for a
	// rectification: an abandoned rectification does not block a completion.
	Discard(ctx context.Context, entryIDs []string) ([]domain.Discarded, error)

	// TriedSince returns, of those entries that were requeued, the instant of the first claim after the last requeue. An
	// entry that was never requeued, or not claimed since, is not in it.
	TriedSince(ctx context.Context, entryIDs []string) (map[string]time.Time, error)
}

// OperationsOf returns the operations of an outbox. The error is domain.ErrConfiguration if its store has none.
func OperationsOf(outbox Outbox) (OutboxOperations, error) {
	if operations, ok := outbox.(OutboxOperations); ok {
		return operations, nil
	}
	return nil, &domain.Error{
		Code: domain.ErrConfiguration, Op: "outbox", Message: "the store does not implement ports.OutboxOperations",
	}
}
