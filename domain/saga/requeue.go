package saga

import (
	"context"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Requeue makes abandoned erasures pending again, once whatever stood against them is out of the way, and records
// erasure_requeued for each. Entries that are not abandoned, or are rectifications, which are issued anew instead, are
// skipped. It returns the entries that were requeued. Others are found by ports.Outbox.Abandoned.
func (r *Runner) Requeue(ctx context.Context, s ports.Session, entryIDs ...string) ([]domain.OutboxEntry, error) {
	requeued, err := s.Outbox().Requeue(ctx, entryIDs)
	if err != nil {
		return nil, err
	}
	if err := r.recordRequeued(ctx, s, requeued); err != nil {
		return nil, err
	}
	return requeued, nil
}

// RequeueMatching is Requeue for up to limit abandoned erasures that match a filter: those of a resolver, say. A caller
// with more of them calls it again, in a session of its own, until none comes back. The error is
// domain.ErrConfiguration if the store cannot do that; see ports.OutboxOperations.
func (r *Runner) RequeueMatching(
	ctx context.Context, s ports.Session, filter domain.OutboxFilter, limit int,
) ([]domain.OutboxEntry, error) {
	operations, err := ports.OperationsOf(s.Outbox())
	if err != nil {
		return nil, err
	}
	requeued, err := operations.RequeueMatching(ctx, filter, limit)
	if err != nil {
		return nil, err
	}
	if err := r.recordRequeued(ctx, s, requeued); err != nil {
		return nil, err
	}
	return requeued, nil
}

func (r *Runner) recordRequeued(ctx context.Context, s ports.Session, requeued []domain.OutboxEntry) error {
	r.looks.restart()
	for _, entry := range requeued {
		if entry.SubjectID.IsZero() { // it cannot be read, and will be abandoned again unless it was repaired
			continue
		}
		event := r.audit.Operation(ctx, entry.OperationID).Event(
			domain.EventErasureRequeued, entry.SubjectID, domain.Payload{"target": entry.Resolver},
		)
		if err := s.Audit().Append(ctx, event); err != nil {
			return err
		}
	}
	return nil
}

// Discard makes abandoned entries succeeded, because a person has dealt with them by other means, and returns them. It
// records erasure_discarded or rectification_discarded for each, with the reason, and erasure_completed if no part of
// an erasure is left. Entries that are not abandoned are skipped. The reason is 1 to 100 letters from a to z, digits,
// spaces, hyphens and underscores, else the error is domain.ErrInvalid: the audit trail holds no personal data. The
// error is domain.ErrConfiguration if the store cannot discard; see ports.OutboxOperations.
func (r *Runner) Discard(
	ctx context.Context, s ports.Session, reason string, entryIDs ...string,
) ([]domain.OutboxEntry, error) {
	if !isReason(reason) {
		return nil, &domain.Error{
			Code: domain.ErrInvalid, Op: "discard",
			Message: "the reason must be 1 to 100 of a-z, 0-9, spaces, hyphens and underscores",
		}
	}
	operations, err := ports.OperationsOf(s.Outbox())
	if err != nil {
		return nil, err
	}
	discarded, err := operations.Discard(ctx, entryIDs)
	if err != nil {
		return nil, err
	}
	var entries []domain.OutboxEntry
	var events []domain.AuditEvent
	for _, d := range discarded {
		entries = append(entries, d.Entry)
		types, known := eventTypes[d.Entry.Operation]
		if d.Entry.SubjectID.IsZero() || !known {
			continue
		}
		operation := r.audit.Operation(ctx, d.Entry.OperationID)
		events = append(events, operation.Event(types.discarded, d.Entry.SubjectID, domain.Payload{
			"target": d.Entry.Resolver, "external": true, "reason": reason,
		}))
		if d.Completes {
			events = append(events, operation.Event(types.completed, d.Entry.SubjectID, nil))
		}
	}
	if len(events) == 0 {
		return entries, nil
	}
	return entries, s.Audit().Append(ctx, events...)
}

// isReason keeps addresses, names in their own spelling, and texts out of the audit trail.
func isReason(reason string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789 -_"
	return len(reason) >= 1 && len(reason) <= 100 && strings.Trim(reason, letters) == "" && strings.TrimSpace(reason) != ""
}
