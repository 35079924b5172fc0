package memory

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/plan"
)

// Holdings implements ports.SubjectStore.
func (s subjectStore) Holdings(ctx context.Context, id domain.SubjectID) (held []domain.Holding, err error) {
	state, err := s.readOf(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, step := range plan.Fates(s.store.dataMap) {
		if rows := state.rowsOfStep(id, step); len(rows) > 0 {
			held = append(held, plan.Holding(s.store.dataMap, step, int64(len(rows)), state.ends(step, rows)))
		}
	}
	return held, nil
}
