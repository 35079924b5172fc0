package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// consentStore implements ports.ConsentStore.
type consentStore struct{ *session }

func (c consentStore) Append(_ context.Context, r domain.ConsentRecord) error {
	return c.hold(`INSERT INTO habeas_consents (subject, purpose, policy_version, granted, recorded_at, source)
		VALUES (?, ?, ?, ?, ?, ?)`, r.SubjectID.String(), r.Purpose, r.PolicyVersion, r.Granted, stamp(r.RecordedAt), r.Source)
}

const selectConsents = `SELECT subject, purpose, policy_version, granted, recorded_at, source FROM habeas_consents
	WHERE subject = ?1 AND purpose = ?2 `

// Latest has the order of intake, which is that of the numbers.
func (c consentStore) Latest(
	ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time,
) (*domain.ConsentRecord, error) {
	return first(collect(ctx, c.session, false, scanConsent, selectConsents+
		`AND (?3 IS NULL OR recorded_at <= ?3) ORDER BY number DESC LIMIT 1`,
		id.String(), purpose, optionalStamp(asOf)))
}

func (c consentStore) History(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	return collect(ctx, c.session, false, scanConsent, selectConsents+`ORDER BY number`, id.String(), purpose)
}

func (c consentStore) InForce(ctx context.Context, id domain.SubjectID) ([]domain.ConsentRecord, error) {
	return collect(ctx, c.session, false, scanConsent, `SELECT subject, purpose, policy_version, granted, recorded_at, source
		FROM habeas_consents WHERE number IN (SELECT max(number) FROM habeas_consents WHERE subject = ? GROUP BY purpose)
		ORDER BY number`, id.String())
}

func scanConsent(row *sql.Rows) (r domain.ConsentRecord, err error) {
	err = row.Scan(subject(&r.SubjectID), &r.Purpose, &r.PolicyVersion, &r.Granted, instant(&r.RecordedAt), &r.Source)
	return r, err
}

// restrictionStore implements ports.RestrictionStore.
type restrictionStore struct{ *session }

func (s restrictionStore) Append(_ context.Context, r domain.RestrictionRecord) error {
	return s.hold(`INSERT INTO habeas_restrictions (subject, purpose, restricted, reason, recorded_at, source)
		VALUES (?, ?, ?, ?, ?, ?)`,
		r.SubjectID.String(), optional(r.Purpose), r.Restricted, optional(r.Reason), stamp(r.RecordedAt), r.Source)
}

// IS compares NULL, too.
const selectRestrictions = `SELECT subject, purpose, restricted, reason, recorded_at, source FROM habeas_restrictions
	WHERE subject = ? AND purpose IS ? `

func (s restrictionStore) Latest(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (global, scoped *domain.RestrictionRecord, err error) {
	if global, err = s.latest(ctx, id, nil); err != nil || purpose == nil {
		return global, nil, err
	}
	scoped, err = s.latest(ctx, id, purpose)
	return global, scoped, err
}

func (s restrictionStore) latest(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (*domain.RestrictionRecord, error) {
	return first(collect(ctx, s.session, false, scanRestriction,
		selectRestrictions+`ORDER BY number DESC LIMIT 1`, id.String(), optional(purpose)))
}

func (s restrictionStore) History(
	ctx context.Context, id domain.SubjectID, purpose *string,
) ([]domain.RestrictionRecord, error) {
	return collect(ctx, s.session, false, scanRestriction,
		selectRestrictions+`ORDER BY number`, id.String(), optional(purpose))
}

func (s restrictionStore) ClearReasons(ctx context.Context, id domain.SubjectID) error {
	_, err := s.exec(ctx, `UPDATE habeas_restrictions SET reason = NULL WHERE subject = ? AND reason IS NOT NULL`, id.String())
	return err
}

func scanRestriction(row *sql.Rows) (r domain.RestrictionRecord, err error) {
	err = row.Scan(subject(&r.SubjectID), &r.Purpose, &r.Restricted, &r.Reason, instant(&r.RecordedAt), &r.Source)
	return r, err
}

// first returns the only one of what was collected, or nil.
func first[T any](found []T, err error) (*T, error) {
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}
