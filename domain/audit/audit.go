// Package audit makes audit events. Every service of the core records what it does through it, so that all events
// are stamped alike.
package audit

import (
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Stamper makes events with an id and an instant of their own. It is safe for concurrent use.
type Stamper struct {
	Clock ports.Clock
	IDs   ports.IDSource
}

// Event returns an event that occurs now.
func (s Stamper) Event(eventType domain.EventType, id domain.SubjectID, payload domain.Payload) domain.AuditEvent {
	if payload == nil {
		payload = domain.Payload{}
	}
	return domain.AuditEvent{
		EventID:    s.IDs.NewID(),
		EventType:  eventType,
		SubjectRef: id,
		OccurredAt: domain.Instant(s.Clock.Now()),
		Payload:    payload,
	}
}
