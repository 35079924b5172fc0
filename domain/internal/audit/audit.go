// Package audit makes audit events. Every service of the core records what it does through it, so that all events
// are stamped alike.
package audit

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Stamper makes events with an id and an instant of their own. It is safe for concurrent use.
type Stamper struct {
	Clock ports.Clock
	IDs   ports.IDSource
}

// Begin returns the first event of a new operation, and the operation for further ones. The id of the operation is that
// of the event.
func (s Stamper) Begin(
	ctx context.Context, eventType domain.EventType, id domain.SubjectID, payload domain.Payload,
) (Operation, domain.AuditEvent) {
	first := s.Event(ctx, eventType, id, payload)
	operation := s.Operation(ctx, first.EventID)
	return operation, operation.with(first)
}

// Operation returns the operation of an id, for further events, which have the operator of ctx. The id is empty if it is
// not known; the events then have none.
func (s Stamper) Operation(ctx context.Context, id string) Operation {
	return Operation{stamper: s, id: id, operator: domain.OperatorOf(ctx)}
}

// Operation makes the events of one operation: a single export, erasure or rectification, with what follows from it
// later. It is safe for concurrent use.
type Operation struct {
	stamper  Stamper
	id       string
	operator string
}

// ID returns the id of the operation. It is empty if it is not known.
func (o Operation) ID() string { return o.id }

// Event returns an event of the operation that occurs now. It adds the operation's id to the payload, which it may
// change.
func (o Operation) Event(eventType domain.EventType, id domain.SubjectID, payload domain.Payload) domain.AuditEvent {
	return o.with(o.stamper.event(o.operator, eventType, id, payload))
}

func (o Operation) with(event domain.AuditEvent) domain.AuditEvent {
	if o.id != "" {
		event.Payload[domain.PayloadOperationID] = o.id
	}
	return event
}

// Event returns an event that occurs now. It adds the operator of ctx, if there is one, to the payload, which it may
// change.
func (s Stamper) Event(
	ctx context.Context, eventType domain.EventType, id domain.SubjectID, payload domain.Payload,
) domain.AuditEvent {
	return s.event(domain.OperatorOf(ctx), eventType, id, payload)
}

func (s Stamper) event(
	operator string, eventType domain.EventType, id domain.SubjectID, payload domain.Payload,
) domain.AuditEvent {
	if payload == nil {
		payload = domain.Payload{}
	}
	if operator != "" {
		payload[domain.PayloadOperator] = operator
	}
	return domain.AuditEvent{
		EventID:    s.IDs.NewID(),
		EventType:  eventType,
		SubjectRef: id,
		OccurredAt: domain.Instant(s.Clock.Now()),
		Payload:    payload,
	}
}
