package memory

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
)

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
	state, err := r.read(ctx, len(r.unwritten.restrictions) > 0)
	if err != nil {
		return nil, err
	}
	for i, record := range slices.Backward(state.restrictions) {
		if record.SubjectID == id && equal(record.Purpose, purpose) {
			if seqOf(i) <= state.erasures[id].RestrictionsUntil && !state.life(id).KeepsEarlier() {
				return nil, nil //nolint:nilnil // there is no record
			}
			record = cloneRestriction(record)
			return &record, nil
		}
	}
	return nil, nil //nolint:nilnil // there is no record
}

// History returns copies of the subject's restriction records for the purpose, in the order in which they were stored.
// If the purpose is nil, it returns the records without a purpose.
func (r restrictionStore) History(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (found []domain.RestrictionRecord, err error) {
	state, err := r.read(ctx, len(r.unwritten.restrictions) > 0)
	if err != nil {
		return nil, err
	}
	for i, record := range state.restrictions {
		if record.SubjectID == id && equal(record.Purpose, purpose) && seqOf(i) > state.erasures[id].RestrictionsUntil {
			found = append(found, cloneRestriction(record))
		}
	}
	return found, nil
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
