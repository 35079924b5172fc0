package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// OutboxOperations is what operators of an outbox need. The Outbox of a session implements it too, in the stores of this
// module; OperationsOf finds it. The engines do without it where a store does not have it.
type OutboxOperations interface {
	// Backlog returns, for each resolver that has entries that are not settled for good, and in the order of their names,
	// how many there are by status, and since when. It only reads, and reads no more than an index has.
	Backlog(ctx context.Context) ([]domain.OutboxBacklog, error)

	// RequeueMatching makes up to limit abandoned erasures that match the filter pending again, as Outbox.Requeue does, and
	// returns them, oldest first. Those that were enqueued first are taken. A caller with more of them calls again until
	// none comes back. An empty filter matches all; a limit of 0 or less stands for none.
	RequeueMatching(ctx context.Context, filter domain.OutboxFilter, limit int) ([]domain.OutboxEntry, error)

	// Discard makes abandoned entries succeeded, because a person has dealt with them by other means, and returns what
	// became of them, oldest first by (EnqueuedAt, EntryID). Their refs and corrections are forgotten, and their errors
	// cleared. What is not abandoned is left as it is and not returned. Discarded.Completes is set for the last one that is
	// returned of a subject none of whose erasures is left in any state but succeeded, decided under the lock of
	// Outbox.Settle. It is never set for a rectification, whose abandonment holds nothing back.
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
