package bunstore

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.ErasureVerifier = subjectStore{}

// LeftOver implements ports.ErasureVerifier. For each step, one statement reads the values that the step should have
// erased. If the subject was registered again after the erasure, LeftOver reports nothing.
func (s subjectStore) LeftOver(
	ctx context.Context, id domain.SubjectID, steps []domain.Step, erasedAt time.Time,
) (domain.Leftovers, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if _, err := s.store.text.DataMap.CheckSteps(steps); err != nil {
		return nil, err
	}
	present, err := s.readSubjectRow(ctx, id, key)
	if err != nil {
		return nil, err
	}
	if _, err := s.catalog.RefuseHidden(id, "verify"); err != nil {
		return nil, err
	}
	found := domain.Leftovers{}
	if present {
		if again, err := s.registeredAgain(ctx, key, erasedAt); err != nil || again {
			return found, err
		}
	}
	for _, step := range steps {
		if found, err = s.stepToVerify(step, key).LeftOver(ctx, erasedAt, found); err != nil {
			return nil, s.explain(ctx, "verify", err, s.store.catalogs.ToExport()...)
		}
	}
	return found, nil
}

// registeredAgain reports whether the subject's own row was added after the erasure. The caller has checked that the
// row exists.
func (s subjectStore) registeredAgain(ctx context.Context, key []any, erasedAt time.Time) (bool, error) {
	subject := s.store.text.DataMap.SubjectTable()
	if _, ok := subject.AddedAt(); !ok {
		return false, nil
	}
	own := s.stepToVerify(domain.Step{Target: subject.Name, Strategy: domain.StrategyRetain}, key)
	old, err := own.Present(ctx, erasedAt)
	return !old, err
}

func (s subjectStore) stepToVerify(step domain.Step, key []any) *verify.Step {
	return verify.NewStep(verified(s), s.store.text, s.catalog, "verify", step, key)
}
