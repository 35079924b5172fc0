package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/habeas-data/habeas/domain"
)

// auditLog implements ports.AuditLog.
type auditLog struct{ *session }

func (a auditLog) Append(_ context.Context, events ...domain.AuditEvent) error {
	_, err := a.append(events)
	return err
}

// AppendEvidence keeps evidence also where the session has failed: that is what evidence is for.
func (a auditLog) AppendEvidence(_ context.Context, events ...domain.AuditEvent) error {
	added, err := a.append(events)
	if !a.ended {
		a.evidence = append(a.evidence, added...)
	}
	return err
}

// AppendOnRollback keeps events for what comes after the evidence.
func (a auditLog) AppendOnRollback(_ context.Context, events ...domain.AuditEvent) error {
	added, err := a.statements(events)
	if !a.ended {
		a.onRollback = append(a.onRollback, added...)
	}
	if err != nil {
		return err
	}
	return a.usable()
}

// append holds events back, and returns the statements, also when the session cannot take them.
func (a auditLog) append(events []domain.AuditEvent) (added []statement, err error) {
	if added, err = a.statements(events); err != nil {
		return added, err
	}
	if err := a.usable(); err != nil {
		return added, err
	}
	a.held = append(a.held, added...)
	return added, nil
}

func (a auditLog) statements(events []domain.AuditEvent) (added []statement, err error) {
	for _, event := range events {
		payload, err := json.Marshal(event.Payload)
		if err != nil {
			return added, a.fail(&domain.Error{Op: "audit", Message: "a payload has no form in JSON"})
		}
		added = append(added, statement{
			`INSERT INTO habeas_events (event_id, event_type, subject, occurred_at, payload) VALUES (?, ?, ?, ?, ?)`,
			[]any{event.EventID, event.EventType, event.SubjectRef.String(), stamp(event.OccurredAt), string(payload)},
		})
	}
	return added, nil
}

func (a auditLog) Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error) {
	return collect(ctx, a.session, false, scanEvent,
		`SELECT event_id, event_type, subject, occurred_at, payload FROM habeas_events WHERE subject = ? ORDER BY number`,
		id.String())
}

// scanEvent reads the whole numbers of a payload as int64.
func scanEvent(row *sql.Rows) (e domain.AuditEvent, err error) {
	err = row.Scan(&e.EventID, &e.EventType, subject(&e.SubjectRef), instant(&e.OccurredAt), exactDocument(&e.Payload))
	for name, value := range e.Payload {
		if number, ok := value.(json.Number); ok {
			if whole, err := number.Int64(); err == nil {
				e.Payload[name] = whole
			}
		}
	}
	return e, err
}
