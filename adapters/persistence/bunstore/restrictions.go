package bunstore

import (
	"context"
	"database/sql"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type restrictionStore struct{ *session }

func (s *session) Restrictions() ports.RestrictionStore { return restrictionStore{s} }

func (r restrictionStore) Append(ctx context.Context, record domain.RestrictionRecord) error {
	return r.buffer(ctx, sqltext.Restrictions, record.SubjectID.String(), nullable(record.Purpose), record.Restricted,
		nullable(record.Reason), r.store.dialect.Instant(record.RecordedAt), record.Source)
}

// nullable returns the parameter of a statement for a text that may be NULL. It copies the text, because the caller may
// change the record while the session buffers the row.
func nullable(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

func (r restrictionStore) Latest(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (global, scoped *domain.RestrictionRecord, err error) {
	text, args := r.store.ledgers.LatestRestriction, []any{id.String()}
	if purpose != nil {
		text, args = r.store.ledgers.LatestRestrictions, append(args, *purpose)
	}
	if err := r.sendRestrictions(ctx); err != nil {
		return nil, nil, err
	}
	anyEarlier, earlier := false, map[*domain.RestrictionRecord]bool{}
	err = r.db.Read(ctx, "read restriction", func(rows *sql.Rows) error {
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
	keeps, err := r.keepsEarlier(ctx, id)
	if earlier[global] && !keeps {
		global = nil
	}
	if earlier[scoped] && !keeps {
		scoped = nil
	}
	return global, scoped, err
}

func (r restrictionStore) History(
	ctx context.Context, id domain.SubjectID, purpose *string,
) ([]domain.RestrictionRecord, error) {
	text, args := r.store.ledgers.GlobalHistory, []any{id.String()}
	if purpose != nil {
		text, args = r.store.ledgers.PurposeHistory, append(args, *purpose)
	}
	return r.readRecords(ctx, id, text, args)
}

// ClearReasons implements ports.RestrictionStore. It buffers the change. On PostgreSQL, the session sends the change in
// the same statement as its other buffered rows.
func (r restrictionStore) ClearReasons(ctx context.Context, id domain.SubjectID) error {
	if len(r.buffered[sqltext.Restrictions]) > 0 { // a statement that inserts records would not clear their reasons
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	return r.buffer(ctx, sqltext.ReasonClearings, id.String())
}

func (r restrictionStore) readRecords(
	ctx context.Context, id domain.SubjectID, text string, args []any,
) ([]domain.RestrictionRecord, error) {
	if err := r.sendRestrictions(ctx); err != nil {
		return nil, err
	}
	var records []domain.RestrictionRecord
	err := r.db.Read(ctx, "read restriction", func(rows *sql.Rows) error {
		record, err := scanRestriction(rows, id)
		records = append(records, *record)
		return err
	}, text, args...)
	return records, err
}

// sendRestrictions sends the buffered rows if they concern restrictions, so that the next statement sees them.
func (r restrictionStore) sendRestrictions(ctx context.Context) error {
	if len(r.buffered[sqltext.Restrictions])+len(r.buffered[sqltext.ReasonClearings]) == 0 {
		return nil
	}
	return r.flush(ctx)
}

// scanRestriction scans a restriction record from the first columns of a row, and the other columns into targets.
func scanRestriction(rows *sql.Rows, id domain.SubjectID, targets ...any) (*domain.RestrictionRecord, error) {
	r := &domain.RestrictionRecord{SubjectID: id}
	columns := []any{&r.Purpose, &r.Restricted, &r.Reason, (*syntax.Instant)(&r.RecordedAt), &r.Source}
	return r, rows.Scan(append(columns, targets...)...)
}
