package resolvers

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Enqueuer makes outbox entries with an id and an instant of their own. It is safe for concurrent use.
type Enqueuer struct {
	Clock ports.Clock
	IDs   ports.IDSource
}

// Enqueue adds one pending entry for each call to the outbox of the session and returns the names of the systems, in
// the order of the calls. shared has the subject, the operation with its id, and the corrections of all entries; its
// other fields do not count. Without calls, the outbox is not used. Errors are those of ports.Outbox.Enqueue.
func (e Enqueuer) Enqueue(
	ctx context.Context, s ports.Session, calls []Call, shared domain.OutboxEntry,
) (names []string, err error) {
	names = make([]string, len(calls))
	entries := make([]domain.OutboxEntry, len(calls))
	for i, call := range calls {
		names[i] = call.Resolver.Name()
		entries[i] = domain.OutboxEntry{
			EntryID:     e.IDs.NewID(),
			SubjectID:   shared.SubjectID,
			Resolver:    names[i],
			Ref:         call.Ref,
			Operation:   shared.Operation,
			OperationID: shared.OperationID,
			Corrections: shared.Corrections,
			Status:      domain.OutboxPending,
			EnqueuedAt:  domain.Instant(e.Clock.Now()),
		}
	}
	if len(entries) == 0 {
		return names, nil
	}
	return names, s.Outbox().Enqueue(ctx, entries...)
}
