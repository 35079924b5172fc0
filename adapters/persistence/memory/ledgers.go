package memory

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// consentStore implements ports.ConsentStore.
type consentStore struct{ *session }

func (c consentStore) Append(_ context.Context, record domain.ConsentRecord) error {
	if err := c.usable(); err != nil {
		return err
	}
	record.RecordedAt = domain.Instant(record.RecordedAt)
	c.held.consents = append(c.held.consents, record)
	return nil
}

func (c consentStore) Latest(
	ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time,
) (*domain.ConsentRecord, error) {
	records, err := c.records(ctx, id, purpose)
	asOf = cloneInstant(asOf)
	var inForce *domain.ConsentRecord
	for i, record := range records {
		known := asOf == nil || !record.RecordedAt.After(*asOf)
		if known && (inForce == nil || !inForce.Supersedes(record)) {
			inForce = &records[i]
		}
	}
	return inForce, err
}

func (c consentStore) History(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	records, err := c.records(ctx, id, purpose)
	slices.SortStableFunc(records, func(a, b domain.ConsentRecord) int { return a.RecordedAt.Compare(b.RecordedAt) })
	return records, err
}

// records returns copies of the subject's records for the purpose, in the order they were appended.
func (c consentStore) records(
	ctx context.Context, id domain.SubjectID, purpose string,
) (found []domain.ConsentRecord, err error) {
	state, err := c.read(ctx, len(c.held.consents) > 0)
	if err != nil {
		return nil, err
	}
	for _, record := range state.consents {
		if record.SubjectID == id && record.Purpose == purpose {
			found = append(found, record)
		}
	}
	return found, nil
}

// restrictionStore implements ports.RestrictionStore.
type restrictionStore struct{ *session }

func (r restrictionStore) Append(_ context.Context, record domain.RestrictionRecord) error {
	if err := r.usable(); err != nil {
		return err
	}
	record = cloneRestriction(record)
	record.RecordedAt = domain.Instant(record.RecordedAt)
	r.held.restrictions = append(r.held.restrictions, record)
	return nil
}

func (r restrictionStore) Latest(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (global, scoped *domain.RestrictionRecord, err error) {
	if global, err = r.latest(ctx, id, nil); err != nil || purpose == nil {
		return global, nil, err
	}
	scoped, err = r.latest(ctx, id, purpose)
	return global, scoped, err
}

func (r restrictionStore) latest(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (*domain.RestrictionRecord, error) {
	records, err := r.records(ctx, id, purpose)
	var inForce *domain.RestrictionRecord
	for i, record := range records {
		if inForce == nil || !inForce.Supersedes(record) {
			inForce = &records[i]
		}
	}
	return inForce, err
}

func (r restrictionStore) History(
	ctx context.Context, id domain.SubjectID, purpose *string,
) ([]domain.RestrictionRecord, error) {
	records, err := r.records(ctx, id, purpose)
	slices.SortStableFunc(records, func(a, b domain.RestrictionRecord) int { return a.RecordedAt.Compare(b.RecordedAt) })
	return records, err
}

// records returns copies of the subject's records, global ones or those for the purpose, in the order they were
// appended.
func (r restrictionStore) records(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (found []domain.RestrictionRecord, err error) {
	state, err := r.read(ctx, len(r.held.restrictions) > 0)
	if err != nil {
		return nil, err
	}
	for _, record := range state.restrictions {
		if record.SubjectID == id && equal(record.Purpose, purpose) {
			found = append(found, cloneRestriction(record))
		}
	}
	return found, nil
}

func cloneRestriction(record domain.RestrictionRecord) domain.RestrictionRecord {
	record.Purpose, record.Reason = clone(record.Purpose), clone(record.Reason)
	return record
}

// equal compares what two pointers point to; nil equals nil only.
func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// clone returns a pointer to a copy, or nil for nil.
func clone[T any](value *T) *T {
	if value == nil {
		return nil
	}
	copied := *value
	return &copied
}
