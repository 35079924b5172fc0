package saga

import (
	"context"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Requeue makes abandoned erasures pending again and returns their entries. It records erasure_requeued for each entry
// whose subject can be read. Call Requeue after the cause of the failures is fixed. ports.OutboxAdmin.Abandoned lists
// the abandoned entries.
//
// Requeue skips two kinds of entries:
//
//   - Entries that are not abandoned.
//   - Rectifications, because the outbox no longer has the corrected values. Rectify must be called with the values
//     again.
func (r *Runner) Requeue(ctx context.Context, s ports.Session, entryIDs ...string) ([]domain.OutboxEntry, error) {
	requeued, err := s.OutboxAdmin().Requeue(ctx, entryIDs)
	if err != nil {
		return nil, err
	}
	if err := r.recordRequeued(ctx, s, requeued); err != nil {
		return nil, err
	}
	return requeued, nil
}

// RequeueMatching does the same as Requeue for abandoned erasures that match the filter, for example the erasures of
// one resolver. It requeues at most limit entries. If more entries may match, call it again in a new session until it
// returns no entries.
func (r *Runner) RequeueMatching(
	ctx context.Context, s ports.Session, filter domain.OutboxFilter, limit int,
) ([]domain.OutboxEntry, error) {
	requeued, err := s.OutboxAdmin().RequeueMatching(ctx, filter, limit)
	if err != nil {
		return nil, err
	}
	if err := r.recordRequeued(ctx, s, requeued); err != nil {
		return nil, err
	}
	return requeued, nil
}

func (r *Runner) recordRequeued(ctx context.Context, s ports.Session, requeued []domain.OutboxEntry) error {
	for _, entry := range requeued {
		if entry.SubjectID.IsZero() { // unreadable; the next claim abandons it again unless it was repaired
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

// Discard marks abandoned and spared outbox entries as succeeded, and returns these entries. Call it after a person has
// done the work of the entries by other means, or has found out whose record a system has spared. For each entry whose
// subject can be read, it records erasure_discarded or rectification_discarded with the reason. If the entry was the
// last open entry of an erasure, it also records erasure_completed. Discard skips all other entries.
//
// The reason is 1 to 100 characters from a to z, digits, spaces, hyphens and underscores, and not only spaces. Discard
// returns domain.ErrInvalid for any other reason, because the audit trail must hold no personal data.
func (r *Runner) Discard(
	ctx context.Context, s ports.Session, reason string, entryIDs ...string,
) ([]domain.OutboxEntry, error) {
	if !isReason(reason) {
		return nil, &domain.Error{
			Code: domain.ErrInvalid, Op: "discard",
			Message: "the reason must be 1 to 100 of a-z, 0-9, spaces, hyphens and underscores",
		}
	}
	discarded, err := s.OutboxAdmin().Discard(ctx, entryIDs)
	if err != nil {
		return nil, err
	}
	var entries, completed []domain.OutboxEntry
	var events []domain.AuditEvent
	for _, d := range discarded {
		entries = append(entries, d.Entry)
		of, known := operations[d.Entry.Operation]
		if d.Entry.SubjectID.IsZero() || !known {
			continue
		}
		operation := r.audit.Operation(ctx, d.Entry.OperationID)
		events = append(events, operation.Event(of.discarded, d.Entry.SubjectID, domain.Payload{
			"target": d.Entry.Resolver, "external": true, "reason": reason,
		}))
		if d.Completes {
			events = append(events, operation.Event(of.completed, d.Entry.SubjectID, nil))
			completed = append(completed, d.Entry)
		}
	}
	if len(events) == 0 {
		return entries, nil
	}
	if err := s.Audit().Append(ctx, events...); err != nil {
		return entries, err
	}
	for _, entry := range completed {
		if err := r.complete(ctx, s, entry); err != nil {
			return entries, err
		}
	}
	return entries, nil
}

// isReason reports whether the reason has the permitted form. The form excludes addresses, capitalized names and free
// text, which could be personal data.
func isReason(reason string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789 -_"
	return len(reason) >= 1 && len(reason) <= 100 && strings.Trim(reason, letters) == "" && strings.TrimSpace(reason) != ""
}
