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
	c.unwritten.consents = append(c.unwritten.consents, record)
	return nil
}

func (c consentStore) Latest(
	ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time,
) (*domain.ConsentRecord, error) {
	records, err := c.records(ctx, id, purpose)
	asOf = cloneInstant(asOf)
	for i, record := range slices.Backward(records) {
		if asOf == nil || !record.RecordedAt.After(*asOf) {
			return &records[i], err
		}
	}
	return nil, err
}

func (c consentStore) InForce(ctx context.Context, id domain.SubjectID) (inForce []domain.ConsentRecord, err error) {
	state, err := c.read(ctx, len(c.unwritten.consents) > 0)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, record := range slices.Backward(state.consents) {
		if record.SubjectID == id && !seen[record.Purpose] {
			seen[record.Purpose] = true
			inForce = append(inForce, record)
		}
	}
	slices.Reverse(inForce)
	return inForce, nil
}

func (c consentStore) History(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	return c.records(ctx, id, purpose)
}

// records returns copies of the subject's consent records for the purpose, in the order in which they were stored.
func (c consentStore) records(
	ctx context.Context, id domain.SubjectID, purpose string,
) (found []domain.ConsentRecord, err error) {
	state, err := c.read(ctx, len(c.unwritten.consents) > 0)
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
	r.unwritten.restrictions = append(r.unwritten.restrictions, record)
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
	if err != nil || len(records) == 0 {
		return nil, err
	}
	return &records[len(records)-1], nil
}

func (r restrictionStore) History(
	ctx context.Context, id domain.SubjectID, purpose *string,
) ([]domain.RestrictionRecord, error) {
	return r.records(ctx, id, purpose)
}

func (r restrictionStore) ClearReasons(ctx context.Context, id domain.SubjectID) error {
	state, err := r.write(ctx)
	if err != nil {
		return err
	}
	state.restrictions = slices.Clone(state.restrictions)
	for i, record := range state.restrictions {
		if record.SubjectID == id {
			state.restrictions[i].Reason = nil
		}
	}
	return nil
}

// records returns copies of the subject's restriction records for the purpose, in the order in which they were stored.
// If the purpose is nil, it returns the records without a purpose.
func (r restrictionStore) records(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (found []domain.RestrictionRecord, err error) {
	state, err := r.read(ctx, len(r.unwritten.restrictions) > 0)
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

// equal reports whether both pointers are nil, or both point to equal values.
func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// clone returns a pointer to a copy of the value, or nil for nil.
func clone[T any](value *T) *T {
	if value == nil {
		return nil
	}
	copied := *value
	return &copied
}
