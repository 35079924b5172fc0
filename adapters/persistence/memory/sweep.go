package memory

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// Due implements ports.ErasedStore. It returns the subjects for which a sweep would overwrite at least one value. To
// find them, it sweeps each subject in a copy of the state, and then discards the copy.
func (s erasedStore) Due(
	ctx context.Context, marks []domain.ErasureMark, steps []datamap.Step,
) (due []domain.SubjectID, err error) {
	seen, err := s.read(ctx, false)
	if err != nil {
		return nil, err
	}
	for _, mark := range marks {
		trial := *seen
		rows, err := trial.sweep(mark.SubjectID, steps, domain.LifeEnded)
		if err != nil {
			return nil, s.fail(err)
		}
		if slices.Max(append(rows, 0)) > 0 {
			due = append(due, mark.SubjectID)
		}
	}
	return due, nil
}

// SweptKeys implements ports.ErasedStore.
func (s erasedStore) SweptKeys(ctx context.Context, id domain.SubjectID, query plan.KeyQuery) ([]string, error) {
	state, err := s.writeOf(ctx, id)
	if err != nil || query.ErasedAt.IsZero() {
		return nil, err
	}
	mark := state.erasures[id]
	if mark.Erasures == 0 {
		return nil, nil
	}
	step := datamap.Step{At: query.ErasedAt, Scope: mark.SweepScope(state.life(id), query.DutiesSince)}
	return state.keys(id, query, func(table datamap.Table, path datamap.Path, column datamap.Column, row int) bool {
		step := step
		step.Via = path.Via
		return column.Personal.Strategy == domain.StrategyRetain && !plan.Keeps(state.dataMap, table, column) &&
			state.overwrites(table, row, column.Name, step)
	}), nil
}

// Sweep implements ports.ErasedStore.
func (s erasedStore) Sweep(ctx context.Context, id domain.SubjectID, steps []datamap.Step) ([]int64, error) {
	state, err := s.writeOf(ctx, id)
	if err != nil {
		return nil, err
	}
	rows, err := state.sweep(id, steps, state.life(id))
	return rows, s.fail(err)
}

// sweep overwrites those cells of an erased subject that the erasure retained, and whose retention duties have ended
// since the erasure. It returns the number of changed rows for each step. The parameter life is that of the id.
func (s *state) sweep(id domain.SubjectID, steps []datamap.Step, life domain.Life) ([]int64, error) {
	rows := make([]int64, 0, len(steps))
	mark := s.erasures[id]
	before := mark
	for i, step := range steps {
		step.Scope = before.SweepScope(life, step.DutiesSince)
		if _, err := plan.CheckSteps(s.dataMap, []datamap.Step{step}); err != nil {
			return rows, err
		}
		if mark.Erasures == 0 {
			rows = append(rows, 0)
			continue
		}
		n, err := s.apply(id, step)
		if err != nil {
			return rows, err
		}
		rows = append(rows, n)
		if n > 0 {
			mark.SweptAt = domain.Instant(steps[i].At)
			s.erasures = withEntry(s.erasures, id, mark)
		}
	}
	return rows, nil
}

func (s *state) overwrites(table datamap.Table, row int, name string, step datamap.Step) bool {
	if !s.isExpired(table, row, name, step.At) {
		return false
	}
	if step.Scope == nil {
		return true
	}
	if column, _ := table.Column(name); plan.RecognizesSurrogate(column) {
		if plan.Overwritten(column, s.rows[table.Name][row][name]) {
			return false
		}
	} else if s.rows[table.Name][row][name] == nil || s.isExpired(table, row, name, step.Scope.DutyEndsAfter) {
		return false
	}
	if !step.Scope.OnlyErasedRows {
		return true
	}
	path, _ := s.dataMap.PathVia(table.Name, step.Via)
	return slices.ContainsFunc(plan.IdentifyingOn(path, table), func(column datamap.Column) bool {
		text, ok := s.rows[table.Name][row][column.Name].(string)
		return ok && plan.Overwritten(column, text)
	})
}
