package register

import (
	"context"
	"database/sql"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
)

// holds implements ports.HoldStore.
type holds struct{ *Session }

const (
	holdColumns = "hold_id, subject_id, ground, reference, placed_by, placed_at, review_at, lifted_by, lifted_at"

	addHold = `
		INSERT INTO {holds} ({hold columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT DO NOTHING`

	updateHold = `
		UPDATE {holds} SET review_at = $2, lifted_by = $3, lifted_at = $4 WHERE hold_id = $1 AND lifted_at IS NULL`

	findHold     = `SELECT {hold columns} FROM {holds} WHERE hold_id = $1`
	holdsOf      = `SELECT {hold columns} FROM {holds} WHERE subject_id = $1 ORDER BY seq`
	holdsToCheck = `
		SELECT {hold columns} FROM {holds} WHERE lifted_at IS NULL AND review_at < $1 ORDER BY review_at, seq LIMIT $2`
)

// Add implements ports.HoldStore.
func (h holds) Add(ctx context.Context, hold request.Hold) error {
	return h.write(ctx, hold.SubjectID, "a hold with this id exists already", addHold,
		hold.ID, hold.SubjectID.String(), string(hold.Ground), text(hold.Reference), hold.PlacedBy,
		h.dialect.Instant(hold.PlacedAt), h.dialect.Instant(hold.ReviewAt), text(hold.LiftedBy), h.instant(hold.LiftedAt))
}

// Update implements ports.HoldStore.
func (h holds) Update(ctx context.Context, hold request.Hold) error {
	return h.write(ctx, hold.SubjectID, "the hold is lifted, or does not exist", updateHold,
		hold.ID, h.dialect.Instant(hold.ReviewAt), text(hold.LiftedBy), h.instant(hold.LiftedAt))
}

// write runs a statement that adds a hold of the subject or changes one. If it changes no row, the session fails with
// domain.ErrConflict and the message.
func (h holds) write(ctx context.Context, id domain.SubjectID, message, text string, args ...any) error {
	if err := h.lock(ctx, id); err != nil {
		return err
	}
	rows, err := h.db.Write(ctx, "write hold", h.fill(text, "hold columns", holdColumns), args...)
	if err == nil && rows == 0 {
		err = h.conflict(ctx, "write hold", message)
	}
	return err
}

// Find implements ports.HoldStore.
func (h holds) Find(ctx context.Context, id string) (*request.Hold, error) {
	found, err := h.read(ctx, findHold, id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Of implements ports.HoldStore.
func (h holds) Of(ctx context.Context, id domain.SubjectID) ([]request.Hold, error) {
	return h.read(ctx, holdsOf, id.String())
}

// List implements ports.HoldStore.
func (h holds) List(ctx context.Context, reviewBefore time.Time, limit int) ([]request.Hold, error) {
	if limit <= 0 {
		return nil, h.db.Usable()
	}
	return h.read(ctx, holdsToCheck, h.dialect.Instant(reviewBefore), limit)
}

// read returns the holds that a statement selects.
func (h holds) read(ctx context.Context, text string, args ...any) (found []request.Hold, err error) {
	err = h.db.Read(ctx, "read holds", func(rows *sql.Rows) error {
		var one request.Hold
		err := rows.Scan(&one.ID, (*subjectID)(&one.SubjectID), &one.Ground, into(&one.Reference), &one.PlacedBy,
			(*syntax.Instant)(&one.PlacedAt), (*syntax.Instant)(&one.ReviewAt), into(&one.LiftedBy),
			into((*syntax.Instant)(&one.LiftedAt)))
		found = append(found, one)
		return err
	}, h.fill(text, "hold columns", holdColumns), args...)
	return found, err
}
