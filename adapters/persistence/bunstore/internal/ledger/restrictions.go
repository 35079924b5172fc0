package ledger

import (
	"context"
	"database/sql"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type restrictions struct{ l *Session }

// Restrictions returns the port on the session.
func (l *Session) Restrictions() ports.RestrictionStore { return restrictions{l} }

func (r restrictions) Append(ctx context.Context, record domain.RestrictionRecord) error {
	return r.l.unsent.Add(ctx, unsent.Restrictions, record.SubjectID.String(), syntax.Nullable(record.Purpose),
		record.Restricted, syntax.Nullable(record.Reason), r.l.store.dialect.Instant(record.RecordedAt), record.Source)
}

const (
	// ORDER BY contains the column "purpose", although this column has only one value here. Without the column,
	// PostgreSQL does not use the order of the index for the condition purpose IS NULL.
	latestRestriction = `
		SELECT * FROM (
			SELECT purpose, restricted, reason, recorded_at, source, seq <= {until}
			FROM {restrictions}
			WHERE subject_id = $1 AND purpose IS NULL
			ORDER BY purpose, seq DESC LIMIT 1
		) AS everywhere`

	latestRestrictions = latestRestriction + `
		UNION ALL
		SELECT * FROM (
			SELECT purpose, restricted, reason, recorded_at, source, seq <= {until}
			FROM {restrictions}
			WHERE subject_id = $1 AND purpose = $2
			ORDER BY purpose, seq DESC LIMIT 1
		) AS scoped`
)

func (r restrictions) Latest(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (global, scoped *domain.RestrictionRecord, err error) {
	text, args := r.l.store.texts.latestRestriction, []any{id.String()}
	if purpose != nil {
		text, args = r.l.store.texts.latestRestrictions, append(args, *purpose)
	}
	if err := r.l.send(ctx, unsent.Restrictions, unsent.ReasonClearings); err != nil {
		return nil, nil, err
	}
	anyEarlier, earlier := false, map[*domain.RestrictionRecord]bool{}
	err = r.l.db.Read(ctx, "read restriction", func(rows *sql.Rows) error {
		var isEarlier sql.NullBool
		record, err := scanRestriction(rows, id, &isEarlier)
		if record.Purpose == nil {
			global = record
		} else {
			scoped = record
		}
		earlier[record], anyEarlier = isEarlier.Bool, anyEarlier || isEarlier.Bool
		return err
	}, text, args...)
	if err != nil || !anyEarlier {
		return global, scoped, err
	}
	keeps, err := r.l.lives.KeepsEarlier(ctx, id)
	if earlier[global] && !keeps {
		global = nil
	}
	if earlier[scoped] && !keeps {
		scoped = nil
	}
	return global, scoped, err
}

const (
	globalHistory = `
		SELECT purpose, restricted, reason, recorded_at, source
		FROM {restrictions}
		WHERE subject_id = $1 AND purpose IS NULL AND seq > COALESCE({until}, 0)
		ORDER BY seq`

	purposeHistory = `
		SELECT purpose, restricted, reason, recorded_at, source
		FROM {restrictions}
		WHERE subject_id = $1 AND purpose = $2 AND seq > COALESCE({until}, 0)
		ORDER BY seq`
)

func (r restrictions) History(
	ctx context.Context, id domain.SubjectID, purpose *string,
) ([]domain.RestrictionRecord, error) {
	text, args := r.l.store.texts.globalHistory, []any{id.String()}
	if purpose != nil {
		text, args = r.l.store.texts.purposeHistory, append(args, *purpose)
	}
	return r.readRecords(ctx, id, text, args)
}

// ClearReasons implements ports.RestrictionStore. It delays the change. On PostgreSQL, the session sends the change in
// the same statement as its other rows.
func (r restrictions) ClearReasons(ctx context.Context, id domain.SubjectID) error {
	// A statement that inserts records would not clear their reasons.
	if err := r.l.send(ctx, unsent.Restrictions); err != nil {
		return err
	}
	return r.l.unsent.Add(ctx, unsent.ReasonClearings, id.String())
}

func (r restrictions) readRecords(
	ctx context.Context, id domain.SubjectID, text string, args []any,
) ([]domain.RestrictionRecord, error) {
	if err := r.l.send(ctx, unsent.Restrictions, unsent.ReasonClearings); err != nil {
		return nil, err
	}
	var records []domain.RestrictionRecord
	err := r.l.db.Read(ctx, "read restriction", func(rows *sql.Rows) error {
		record, err := scanRestriction(rows, id)
		records = append(records, *record)
		return err
	}, text, args...)
	return records, err
}

// scanRestriction scans a restriction record from the first columns of a row, and the other columns into targets.
func scanRestriction(rows *sql.Rows, id domain.SubjectID, targets ...any) (*domain.RestrictionRecord, error) {
	r := &domain.RestrictionRecord{SubjectID: id}
	columns := []any{&r.Purpose, &r.Restricted, &r.Reason, (*syntax.Instant)(&r.RecordedAt), &r.Source}
	return r, rows.Scan(append(columns, targets...)...)
}
