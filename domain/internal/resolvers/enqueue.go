package resolvers

import (
	"context"
	"time"

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
// ports.Outbox.Enqueue. The parameter earlier is the number of entries that the operation has in each system already.
func (e Enqueuer) Enqueue(
	ctx context.Context, s ports.Session, calls []Call, earlier int, shared domain.OutboxEntry,
) (names []string, err error) {
	names = make([]string, len(calls))
	entries, inSystem := make([]domain.OutboxEntry, len(calls)), map[string]int{}
	for i, call := range calls {
		names[i] = call.Resolver.Name()
		entries[i] = Turn(e.Entry(names[i], call.Ref, shared), earlier+inSystem[names[i]])
		inSystem[names[i]]++
	}
	if len(entries) == 0 {
		return names, nil
	}
	return names, s.Outbox().Enqueue(ctx, entries...)
}

// An operation with more than promptEntries entries in one system leaves room for other people: each further entry has
// its turn turnInterval later than the one before. The interval is longer than a system needs for one entry, so that
// somebody else's entry waits for few of them.
const (
	promptEntries = 10
	turnInterval  = time.Minute
)

// Turn returns an entry with its turn, if the operation has the given number of earlier entries in the same system.
func Turn(entry domain.OutboxEntry, earlier int) domain.OutboxEntry {
	if later := earlier - promptEntries + 1; later > 0 {
		entry.TurnAt = entry.EnqueuedAt.Add(time.Duration(later) * turnInterval)
	}
	return entry
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
