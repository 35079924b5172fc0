// Package audit creates audit events. All services of the domain use it, so that every event gets its id, its instant
// and its operator in the same way.
package audit

import (
	"cmp"
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Stamper creates audit events, each with a new id and the current time. It is safe for concurrent use.
type Stamper struct {
	Clock ports.Clock
	IDs   ports.IDSource
}

// Begin creates the first event of a new operation. It returns the event, and the Operation that creates the further
// events. The id of the operation is the number of the request in ctx, if it has one, and otherwise the id of the first
// event.
func (s Stamper) Begin(
	ctx context.Context, eventType domain.EventType, id domain.SubjectID, payload domain.Payload,
) (Operation, domain.AuditEvent) {
	first := s.Event(ctx, eventType, id, payload)
	operation := s.Operation(ctx, cmp.Or(domain.RequestOf(ctx), first.EventID))
	return operation, operation.with(first)
}

// Operation returns an Operation that creates further events of the operation with the given id. The events have the
// operator of ctx. If id is empty, the events have no operation id.
func (s Stamper) Operation(ctx context.Context, id string) Operation {
	return Operation{stamper: s, id: id, operator: domain.OperatorOf(ctx)}
}

// Operation creates the events of one export, erasure, rectification or sweep (which overwrites retained values after
// the end of their retention period), and of the later calls to external systems that it requests. It is safe for
// concurrent use.
type Operation struct {
	stamper  Stamper
	id       string
	operator string
}

// ID returns the id of the operation, or "" if it is unknown.
func (o Operation) ID() string { return o.id }

// Event returns a new event of the operation with the current time. It adds the operation's id and operator to the
// payload and may modify the payload.
func (o Operation) Event(eventType domain.EventType, id domain.SubjectID, payload domain.Payload) domain.AuditEvent {
	return o.with(o.stamper.event(o.operator, eventType, id, payload))
}

// Fail records the class of err and returns err. The payload names the failed part of the operation. The event is
// evidence: it remains after a rollback. Fail ignores an error of the record, because SessionFactory.Do reports lost
// evidence.
func (o Operation) Fail(
	ctx context.Context, s ports.Session, eventType domain.EventType, id domain.SubjectID, part domain.Payload, err error,
) error {
	part["error"] = domain.ErrorClass(err)
	_ = s.Audit().AppendEvidence(ctx, o.Event(eventType, id, part))
	return err
}

// FailOnRollback lets the store record a failure if the session rolls back although every part of the operation
// succeeded. Causes are a deferred constraint that fails at the commit, a lost connection, or a later failure in the
// same session.
func (o Operation) FailOnRollback(
	ctx context.Context, s ports.Session, eventType domain.EventType, id domain.SubjectID,
) error {
	return s.Audit().AppendOnRollback(ctx, o.Event(eventType, id, domain.Payload{"error": "rolled_back"}))
}

// Target returns a payload that names a table, and the path to its rows if there is one.
func Target(table, via string) domain.Payload {
	payload := domain.Payload{"target": table}
	if via != "" {
		payload["via"] = via
	}
	return payload
}

func (o Operation) with(event domain.AuditEvent) domain.AuditEvent {
	if o.id != "" {
		event.Payload[domain.PayloadOperationID] = o.id
	}
	return event
}

// Event returns a new event with the current time. If ctx has an operator or the number of a request, Event adds them
// to the payload. It may modify the payload.
func (s Stamper) Event(
	ctx context.Context, eventType domain.EventType, id domain.SubjectID, payload domain.Payload,
) domain.AuditEvent {
	return s.Operation(ctx, domain.RequestOf(ctx)).Event(eventType, id, payload)
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
