package bunstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/domain"
)

type auditLog struct{ *session }

func (a auditLog) Append(ctx context.Context, added ...domain.AuditEvent) error {
	rows, err := a.rows(added)
	if err != nil {
		return err
	}
	return a.holdAll(ctx, rows)
}

func (a auditLog) AppendEvidence(ctx context.Context, added ...domain.AuditEvent) error {
	rows, err := a.rows(added)
	if err != nil {
		return err
	}
	if !a.ended { // kept even where the session has failed: that is what evidence is for
		a.evidence = append(a.evidence, rows...)
	}
	return a.holdAll(ctx, rows)
}

func (a auditLog) AppendOnRollback(_ context.Context, added ...domain.AuditEvent) error {
	rows, err := a.rows(added)
	if err != nil {
		return err
	}
	if !a.ended {
		a.onRollback = append(a.onRollback, rows...)
	}
	return a.usable()
}

// rows are events as they are inserted.
func (a auditLog) rows(added []domain.AuditEvent) ([][]any, error) {
	rows := make([][]any, len(added))
	for i, event := range added {
		payload, err := asJSON("audit", event.Payload)
		if err != nil {
			return nil, err
		}
		rows[i] = []any{
			event.EventID, string(event.EventType), event.SubjectRef.String(),
			a.store.dialect.instant(event.OccurredAt), payload,
		}
	}
	return rows, nil
}

func (a auditLog) holdAll(ctx context.Context, rows [][]any) error {
	for _, row := range rows {
		if err := a.hold(ctx, events, row...); err != nil {
			return err
		}
	}
	return nil
}

func (a auditLog) Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error) {
	if len(a.held[events]) > 0 {
		if err := a.flush(ctx); err != nil {
			return nil, err
		}
	}
	var trail []domain.AuditEvent
	err := a.read(ctx, "read audit trail", func(rows *sql.Rows) error {
		event := domain.AuditEvent{SubjectRef: id}
		var payload []byte
		if err := rows.Scan(&event.EventID, &event.EventType, (*instant)(&event.OccurredAt), &payload); err != nil {
			return err
		}
		var err error
		event.Payload, err = decodePayload(payload)
		trail = append(trail, event)
		return err
	}, "SELECT event_id, event_type, occurred_at, payload FROM "+a.store.tables.events+
		" WHERE subject_ref = $1 ORDER BY seq", id.String())
	return trail, err
}

// decodePayload reads whole numbers back as int64.
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

// instant reads a point in time as either database returns it. It implements sql.Scanner.
type instant time.Time

func (i *instant) Scan(value any) error {
	switch value := value.(type) {
	case time.Time:
		*i = instant(value.UTC())
		return nil
	case string:
		t, err := time.Parse(instantFormat, value)
		*i = instant(t)
		return err
	default:
		return fmt.Errorf("an instant cannot be a %T", value)
	}
}
