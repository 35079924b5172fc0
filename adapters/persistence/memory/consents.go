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
	state, err := c.read(ctx, len(c.unwritten.consents) > 0)
	if err != nil {
		return nil, err
	}
	asOf = cloneInstant(asOf)
	isEarlier := c.earlierConsents(state, id)
	for i, record := range slices.Backward(state.consents) {
		if record.SubjectID == id && record.Purpose == purpose && (asOf == nil || !record.RecordedAt.After(*asOf)) {
			if isEarlier(i) {
				return nil, nil //nolint:nilnil // there is no record
			}
			return &record, nil
		}
	}
	return nil, nil //nolint:nilnil // there is no record
}

// earlierConsents returns a function that reports whether the record with an index belongs to an earlier life of the
// id. No record does during an erasure of the subject.
func (c consentStore) earlierConsents(state *state, id domain.SubjectID) func(index int) bool {
	until := state.erasures[id].ConsentsUntil
	if slices.Contains(c.marked, id) || state.life(id).KeepsEarlier() {
		until = 0
	}
	return func(i int) bool { return seqOf(i) <= until }
}

// seqOf returns the number of the record of a ledger that has the index.
func seqOf(index int) int64 { return int64(index) + 1 }

func (c consentStore) InForce(ctx context.Context, id domain.SubjectID) (inForce []domain.ConsentRecord, err error) {
	state, err := c.read(ctx, len(c.unwritten.consents) > 0)
	if err != nil {
		return nil, err
	}
	seen, isEarlier := map[string]bool{}, c.earlierConsents(state, id)
	for i, record := range slices.Backward(state.consents) {
		if record.SubjectID == id && !seen[record.Purpose] && !isEarlier(i) {
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
	return c.records(ctx, id, purpose, func(mark domain.ErasureMark) int64 { return mark.ConsentsUntil })
}

func (c consentStore) HistoryOfAllLives(
	ctx context.Context, id domain.SubjectID, purpose string,
) ([]domain.ConsentRecord, error) {
	return c.records(ctx, id, purpose, func(domain.ErasureMark) int64 { return 0 })
}

// records returns copies of the subject's consent records for the purpose, in the order in which they were stored. It
// leaves out the records up to the number that the function until returns.
func (c consentStore) records(
	ctx context.Context, id domain.SubjectID, purpose string, until func(domain.ErasureMark) int64,
) (found []domain.ConsentRecord, err error) {
	state, err := c.read(ctx, len(c.unwritten.consents) > 0)
	if err != nil {
		return nil, err
	}
	after := until(state.erasures[id])
	for i, record := range state.consents {
		if record.SubjectID == id && record.Purpose == purpose && seqOf(i) > after {
			found = append(found, record)
		}
	}
	return found, nil
}
