package bunstore

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// LeftOver implements ports.ErasedStore. For each step, one statement reads the values that the step should have
// erased.
func (s erasedStore) LeftOver(
	ctx context.Context, id domain.SubjectID, steps []datamap.Step, erasedAt time.Time,
) (domain.Leftovers, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if _, err := s.store.text.DataMap.CheckSteps(steps); err != nil {
		return nil, err
	}
	if err := subjectStore(s).readSubjectRow(ctx, id, key); err != nil {
		return nil, err
	}
	if _, err := s.catalog.RefuseSubject(id, "verify"); err != nil {
		return nil, err
	}
	found := domain.Leftovers{}
	for _, step := range steps {
		if found, err = subjectStore(s).stepToVerify(step, key).LeftOver(ctx, erasedAt, found); err != nil {
			return nil, s.explain(ctx, "verify", err, s.store.catalogs.ToExport()...)
		}
	}
	return found, nil
}

func (s subjectStore) stepToVerify(step datamap.Step, key []any) *verify.Step {
	return verify.NewStep(verified(s), s.store.text, s.catalog, "verify", step, key)
}
