package bunstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type auditLog struct{ *session }

func (s *session) Audit() ports.AuditLog { return auditLog{s} }

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
	if !a.db.Ended { // a failed session keeps evidence, too: evidence often records the failure
		a.evidence = append(a.evidence, rows...)
	}
	return a.holdAll(ctx, rows)
}

func (a auditLog) AppendOnRollback(_ context.Context, added ...domain.AuditEvent) error {
	rows, err := a.encode(added)
	if err != nil {
		return err
	}
	if !a.db.Ended {
		a.onRollback = append(a.onRollback, rows...)
	}
	return a.db.Usable()
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
			a.store.dialect.Instant(event.OccurredAt), payload,
		}
	}
	return rows, nil
}

func (a auditLog) holdAll(ctx context.Context, rows [][]any) error {
	for _, row := range rows {
		if err := a.buffer(ctx, sqltext.Events, row...); err != nil {
			return err
		}
	}
	return nil
}

func (a auditLog) Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error) {
	if len(a.buffered[sqltext.Events]) > 0 {
		if err := a.flush(ctx); err != nil {
			return nil, err
		}
	}
	var trail []domain.AuditEvent
	err := a.db.Read(ctx, "read audit trail", func(rows *sql.Rows) error {
		event := domain.AuditEvent{SubjectRef: id}
		var payload []byte
		if err := rows.Scan(&event.EventID, &event.EventType, (*syntax.Instant)(&event.OccurredAt), &payload); err != nil {
			return err
		}
		var err error
		event.Payload, err = decodePayload(payload)
		trail = append(trail, event)
		return err
	}, a.store.ledgers.Trail, id.String())
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
