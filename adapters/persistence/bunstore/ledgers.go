package bunstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/habeas-data/habeas/domain"
)

type consentStore struct{ *session }

const consentColumns = "policy_version, granted, recorded_at, source"

func (c consentStore) Append(ctx context.Context, r domain.ConsentRecord) error {
	return c.hold(ctx, consents, r.SubjectID.String(), r.Purpose, r.PolicyVersion, r.Granted,
		c.store.dialect.instant(r.RecordedAt), r.Source)
}

func (c consentStore) History(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	return c.records(ctx, id, purpose, "SELECT "+consentColumns+" FROM "+c.store.tables.consents+
		" WHERE subject_id = $1 AND purpose = $2 ORDER BY seq", []any{id.String(), purpose})
}

func (c consentStore) InForce(ctx context.Context, id domain.SubjectID) ([]domain.ConsentRecord, error) {
	if c.ahead != nil && c.ahead.id == id {
		return slices.Clone(c.ahead.inForce), c.usable()
	}
	if err := c.sendConsents(ctx); err != nil {
		return nil, err
	}
	var records []domain.ConsentRecord
	err := c.read(ctx, "read consents", func(rows *sql.Rows) error {
		var purpose string
		record, err := scanConsent(rows, &purpose)
		record.SubjectID, record.Purpose = id, purpose
		records = append(records, record)
		return err
	}, c.store.latest.ofAll, id.String())
	return records, err
}

func (c consentStore) records(
	ctx context.Context, id domain.SubjectID, purpose, text string, args []any,
) ([]domain.ConsentRecord, error) {
	if err := c.sendConsents(ctx); err != nil {
		return nil, err
	}
	var records []domain.ConsentRecord
	err := c.read(ctx, "read consent", func(rows *sql.Rows) error {
		record, err := scanConsent(rows)
		record.SubjectID, record.Purpose = id, purpose
		records = append(records, record)
		return err
	}, text, args...)
	return records, err
}

// sendConsents makes what is held visible to a statement on consents.
func (c consentStore) sendConsents(ctx context.Context) error {
	if len(c.held[consents]) == 0 {
		return nil
	}
	return c.flush(ctx)
}

type restrictionStore struct{ *session }

const restrictionColumns = "purpose, restricted, reason, recorded_at, source"

func (r restrictionStore) Append(ctx context.Context, record domain.RestrictionRecord) error {
	return r.hold(ctx, restrictions, record.SubjectID.String(), nullable(record.Purpose), record.Restricted,
		nullable(record.Reason), r.store.dialect.instant(record.RecordedAt), record.Source)
}

// nullable is a text or NULL as a parameter: a copy, for the record stays the caller's while it is held back.
func nullable(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

func (r restrictionStore) Latest(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (global, scoped *domain.RestrictionRecord, err error) {
	// By purpose first, which is the same in all of them: so PostgreSQL sees that the index has the order, also for NULL.
	latest := func(condition string) string {
		return "SELECT * FROM (SELECT " + restrictionColumns + " FROM " + r.store.tables.restrictions +
			" WHERE subject_id = $1 AND purpose " + condition + " ORDER BY purpose, seq DESC LIMIT 1)"
	}
	text, args := latest("IS NULL")+" AS g", []any{id.String()}
	if purpose != nil {
		text, args = text+" UNION ALL "+latest("= $2")+" AS p", append(args, *purpose)
	}
	records, err := r.records(ctx, id, text, args)
	for i := range records {
		if records[i].Purpose == nil {
			global = &records[i]
		} else {
			scoped = &records[i]
		}
	}
	return global, scoped, err
}

func (r restrictionStore) History(
	ctx context.Context, id domain.SubjectID, purpose *string,
) ([]domain.RestrictionRecord, error) {
	condition, args := "IS NULL", []any{id.String()}
	if purpose != nil {
		condition, args = "= $2", append(args, *purpose)
	}
	return r.records(ctx, id, "SELECT "+restrictionColumns+" FROM "+r.store.tables.restrictions+
		" WHERE subject_id = $1 AND purpose "+condition+" ORDER BY seq", args)
}

// ClearReasons travels with what the session holds back, and needs no round trip of its own.
func (r restrictionStore) ClearReasons(ctx context.Context, id domain.SubjectID) error {
	if len(r.held[restrictions]) > 0 { // which one statement would insert and not clear
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	return r.hold(ctx, clearings, id.String())
}

func (r restrictionStore) records(
	ctx context.Context, id domain.SubjectID, text string, args []any,
) ([]domain.RestrictionRecord, error) {
	if len(r.held[restrictions])+len(r.held[clearings]) > 0 {
		if err := r.flush(ctx); err != nil {
			return nil, err
		}
	}
	var records []domain.RestrictionRecord
	err := r.read(ctx, "read restriction", func(rows *sql.Rows) error {
		record := domain.RestrictionRecord{SubjectID: id}
		err := rows.Scan(&record.Purpose, &record.Restricted, &record.Reason,
			(*instant)(&record.RecordedAt), &record.Source)
		records = append(records, record)
		return err
	}, text, args...)
	return records, err
}
