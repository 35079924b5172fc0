package memory

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// LeftOver implements ports.ErasedStore. It ignores rows that were added after the erasure, except for the own row of
// the subject.
func (s erasedStore) LeftOver(
	ctx context.Context, id domain.SubjectID, steps []datamap.Step, erasedAt time.Time,
) (domain.Leftovers, error) {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return nil, err
	}
	if _, err := plan.CheckSteps(s.store.dataMap, steps); err != nil {
		return nil, err
	}
	state, err := s.read(ctx, false)
	if err != nil {
		return nil, err
	}
	found, before := domain.Leftovers{}, state.withoutLaterRows(erasedAt)
	for _, step := range steps {
		found = before.leftOver(id, step, found)
	}
	return found, nil
}

// withoutLaterRows returns a copy of the state without the rows that were certainly added after the given time. It
// keeps the subjects' own rows, which are judged by their life (see domain.Life).
func (s *state) withoutLaterRows(at time.Time) *state {
	before := *s
	for _, table := range s.dataMap.Tables() {
		if column, ok := plan.AddedAt(table); ok && table.Name != s.dataMap.SubjectTable().Name {
			before.put(table.Name, slices.DeleteFunc(slices.Clone(s.rows[table.Name]), func(row Row) bool {
				added, ok := plan.EarliestAddedAt(row[column.Name])
				return ok && added.After(at)
			}))
		}
	}
	return &before
}

// leftOver counts the rows and cells that a step of an erasure should have removed or overwritten, but did not. It adds
// these counts to the counts of earlier steps, and returns the sums.
func (s *state) leftOver(id domain.SubjectID, step datamap.Step, found domain.Leftovers) domain.Leftovers {
	if step.Self { // the later step finds the rows to which a reference leads
		return found
	}
	table, _ := s.dataMap.Table(step.Target)
	own := s.rowsOfStep(id, step)
	switch step.Strategy { //nolint:exhaustive // a retain step leaves all rows
	case domain.StrategyDelete:
		return found.Add(table.Name, "", int64(len(own)))
	case domain.StrategyAnonymize:
	default:
		return found
	}
	for _, name := range slices.Concat(step.Columns, step.ClearedColumns, step.Expired) {
		column, _ := table.Column(name)
		cells := int64(0)
		for _, i := range own {
			value := s.rows[table.Name][i][name]
			left := plan.IsLeftOver(column, value)
			switch {
			case slices.Contains(step.ClearedColumns, name):
				left = value != nil
			case slices.Contains(step.Expired, name):
				left = left && s.isExpired(table, i, name, step.At)
			}
			if left {
				cells++
			}
		}
		found = found.Add(table.Name, name, cells)
	}
	return found
}
