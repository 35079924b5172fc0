package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type auditLog struct{ l *Session }

// Audit returns the port on the session.
func (l *Session) Audit() ports.AuditLog { return auditLog{l} }

func (a auditLog) Append(ctx context.Context, added ...domain.AuditEvent) error {
	rows, err := a.encode(added)
	if err != nil {
		return err
	}
	return a.holdAll(ctx, rows)
}

func (a auditLog) AppendEvidence(ctx context.Context, added ...domain.AuditEvent) error {
	rows, err := a.encode(added)
	if err != nil {
		return err
	}
	if !a.l.db.Ended { // a failed session keeps evidence, too: evidence often records the failure
		a.l.evidence = append(a.l.evidence, rows...)
	}
	return a.holdAll(ctx, rows)
}

func (a auditLog) AppendOnRollback(_ context.Context, added ...domain.AuditEvent) error {
	rows, err := a.encode(added)
	if err != nil {
		return err
	}
	if !a.l.db.Ended {
		a.l.onRollback = append(a.l.onRollback, rows...)
	}
	return a.l.db.Usable()
}

func (a auditLog) encode(added []domain.AuditEvent) ([][]any, error) {
	rows := make([][]any, len(added))
	for i, event := range added {
		payload, err := syntax.JSON("audit", event.Payload)
		if err != nil {
			return nil, err
		}
		rows[i] = []any{
			event.EventID, string(event.EventType), event.SubjectRef.String(),
			a.l.store.dialect.Instant(event.OccurredAt), payload,
		}
	}
	return rows, nil
}

func (a auditLog) holdAll(ctx context.Context, rows [][]any) error {
	for _, row := range rows {
		if err := a.l.unsent.Add(ctx, unsent.Events, row...); err != nil {
			return err
		}
	}
	return nil
}

const trail = `
	SELECT event_id, event_type, occurred_at, payload
	FROM {events}
	WHERE subject_ref = $1
	ORDER BY seq`

func (a auditLog) Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error) {
	if err := a.l.unsent.Send(ctx, unsent.Events); err != nil {
		return nil, err
	}
	var trail []domain.AuditEvent
	err := a.l.db.Read(ctx, "read audit trail", func(rows *sql.Rows) error {
		event := domain.AuditEvent{SubjectRef: id}
		var payload []byte
		if err := rows.Scan(&event.EventID, &event.EventType, (*syntax.Instant)(&event.OccurredAt), &payload); err != nil {
			return err
		}
		var err error
		event.Payload, err = decodePayload(payload)
		trail = append(trail, event)
		return err
	}, a.l.store.texts.trail, id.String())
	return trail, err
}

// decodePayload decodes a payload from JSON. Numbers become int64.
func decodePayload(text []byte) (domain.Payload, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	payload := domain.Payload{}
	if err := decoder.Decode(&payload); err != nil {
		return nil, err
	}
	for name, value := range payload {
		if number, ok := value.(json.Number); ok {
			n, err := number.Int64()
			if err != nil {
				return nil, err
			}
			payload[name] = n
		}
	}
	return payload, nil
}
