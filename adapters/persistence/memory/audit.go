package memory

import (
	"context"
	"maps"

	"github.com/habeas-data/habeas/domain"
)

// auditLog implements ports.AuditLog.
type auditLog struct{ *session }

func (a auditLog) Append(_ context.Context, events ...domain.AuditEvent) error {
	if err := a.usable(); err != nil {
		return err
	}
	for _, event := range events {
		a.unwritten.events = append(a.unwritten.events, storedEvent(event))
	}
	return nil
}

func (a auditLog) AppendEvidence(ctx context.Context, events ...domain.AuditEvent) error {
	if !a.ended { // evidence is kept even if the session has failed
		for _, event := range events {
			a.evidence = append(a.evidence, storedEvent(event))
		}
	}
	return a.Append(ctx, events...)
}

func (a auditLog) AppendOnRollback(_ context.Context, events ...domain.AuditEvent) error {
	if !a.ended {
		for _, event := range events {
			a.onRollback = append(a.onRollback, storedEvent(event))
		}
	}
	return a.usable()
}

func (a auditLog) Trail(ctx context.Context, id domain.SubjectID) (trail []domain.AuditEvent, err error) {
	state, err := a.read(ctx, a.unwritten.events != nil)
	if err != nil {
		return nil, err
	}
	for _, event := range state.events {
		if event.SubjectRef == id {
			event.Payload = maps.Clone(event.Payload)
			trail = append(trail, event)
		}
	}
	return trail, nil
}

// storedEvent returns a copy of the event in the form in which every store returns it: integers in the event have the
// type int64.
func storedEvent(event domain.AuditEvent) domain.AuditEvent {
	event.OccurredAt = domain.Instant(event.OccurredAt)
	event.Payload = maps.Clone(event.Payload)
	for name, value := range event.Payload {
		if n, ok := value.(int); ok {
			event.Payload[name] = int64(n)
		}
	}
	return event
}
