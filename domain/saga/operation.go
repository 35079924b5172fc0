package saga

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// operation describes a kind of outbox entries.
type operation struct {
	// call makes the call of an entry.
	call func(
		ctx context.Context, resolver ports.Resolver, entry domain.OutboxEntry, call domain.ErasureCall,
	) (alreadyAbsent bool, err error)

	// The events of an entry, and completed, the event of the whole operation. It follows the last of the entries, if the
	// store counts them for the completion, see ports.Outbox.Settle.
	succeeded, failed, discarded, completed domain.EventType
}

// operations has all operations that this version of habeas knows.
var operations = map[domain.Operation]operation{
	domain.OperationErase: {
		call:      erase,
		succeeded: domain.EventErasureStepSucceeded, failed: domain.EventErasureStepFailed,
		discarded: domain.EventErasureDiscarded, completed: domain.EventErasureCompleted,
	},
	domain.OperationRectify: {
		call:      rectify,
		succeeded: domain.EventRectificationStepSucceeded, failed: domain.EventRectificationStepFailed,
		discarded: domain.EventRectificationDiscarded, completed: domain.EventRectificationCompleted,
	},
}

func erase(
	ctx context.Context, resolver ports.Resolver, entry domain.OutboxEntry, call domain.ErasureCall,
) (alreadyAbsent bool, err error) {
	if len(entry.Ref.Keys) == 0 {
		return resolver.EraseSubject(ctx, entry.Ref, call)
	}
	ofKeys, ok := resolver.(ports.KeyResolver)
	if !ok {
		return false, &domain.ResolverError{Resolver: resolver.Name(), Message: "does not take keys"}
	}
	absent, err := ofKeys.EraseKeys(ctx, slices.Clone(entry.Ref.Keys), call)
	return absent >= len(entry.Ref.Keys), err
}

func rectify(
	ctx context.Context, resolver ports.Resolver, entry domain.OutboxEntry, call domain.ErasureCall,
) (alreadyAbsent bool, err error) {
	rectifying, ok := resolver.(ports.RectifyingResolver)
	if !ok {
		return false, unknownOperation(entry)
	}
	return false, rectifying.RectifySubject(ctx, entry.Ref, call, entry.Corrections)
}

func unknownOperation(entry domain.OutboxEntry) error {
	return &domain.ResolverError{Resolver: entry.Resolver, Message: "does not know the operation"}
}

// complete calls Config.Completed, in the session that records the completion of the entry's operation, if this version
// of habeas knows the operation.
func (r *Runner) complete(ctx context.Context, s ports.Session, entry domain.OutboxEntry) error {
	if _, known := operations[entry.Operation]; !known || r.config.Completed == nil {
		return nil
	}
	return r.config.Completed(ctx, s, entry.SubjectID, entry.OperationID)
}
