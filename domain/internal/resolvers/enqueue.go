package resolvers

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Enqueuer creates outbox entries, each with a new id and the current time. It is safe for concurrent use.
type Enqueuer struct {
	Clock ports.Clock
	IDs   ports.IDSource
}

// Enqueue adds to the outbox of the session one pending entry for each Call, with the fields of the given OutboxEntry
// that Entry copies. It returns the names of the external systems, in the order of the calls, and the errors of
// ports.Outbox.Enqueue.
func (e Enqueuer) Enqueue(
	ctx context.Context, s ports.Session, calls []Call, shared domain.OutboxEntry,
) (names []string, err error) {
	names = make([]string, len(calls))
	entries := make([]domain.OutboxEntry, len(calls))
	for i, call := range calls {
		names[i] = call.Resolver.Name()
		entries[i] = e.Entry(names[i], call.Ref, shared)
	}
	if len(entries) == 0 {
		return names, nil
	}
	return names, s.Outbox().Enqueue(ctx, entries...)
}

// Entry returns a pending outbox entry for the resolver, with a copy of SubjectID, Operation, OperationID, Corrections
// and RequestedAt from the given OutboxEntry. A zero RequestedAt means the current time.
func (e Enqueuer) Entry(resolver string, ref domain.SubjectRef, shared domain.OutboxEntry) domain.OutboxEntry {
	return domain.OutboxEntry{
		EntryID:     e.IDs.NewID(),
		SubjectID:   shared.SubjectID,
		Resolver:    resolver,
		Ref:         ref,
		Operation:   shared.Operation,
		OperationID: shared.OperationID,
		Corrections: shared.Corrections,
		Status:      domain.OutboxPending,
		EnqueuedAt:  domain.Instant(e.Clock.Now()),
		RequestedAt: shared.RequestedAt,
	}
}
