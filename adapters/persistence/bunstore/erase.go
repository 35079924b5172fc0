package bunstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// Apply implements ports.SubjectStore. Where the database can join them, all steps are one statement. Nobody can tell
// which step such a statement failed at, so the session is then run once more, step by step.
func (s subjectStore) Apply(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
	key, err := s.store.dataMap.Key(id)
	if err != nil {
		return nil, err
	}
	for i, step := range steps {
		if err := s.store.checkStep(step); err != nil {
			return make([]int64, i), err
		}
	}
	rows := make([]int64, 0, len(steps))
	for group := range slices.Chunk(steps, s.atOnce(steps)) {
		counts, err := s.applyGroup(ctx, group, key)
		if err != nil {
			if len(group) > 1 && s.failed != nil {
				s.stepwise, s.failed = true, failedGroup{s.failed}
				return make([]int64, len(steps)), err // nobody can tell which step it was
			}
			return rows, err
		}
		rows = append(rows, counts...)
	}
	return rows, nil
}

func (s *Store) checkStep(step domain.Step) error {
	switch _, ok := s.dataMap.Table(step.Target); {
	case !ok || step.External:
		return &domain.Error{Code: domain.ErrManifest, Op: "erase", Message: "a step is not about a table of the data map"}
	case !step.Strategy.Valid():
		return &domain.Error{Code: domain.ErrManifest, Op: "erase", Message: "a step has no known strategy"}
	default:
		return nil
	}
}

// atOnce is how many of the steps go into one statement.
func (s subjectStore) atOnce(steps []domain.Step) int {
	if !s.store.dialect.joins() || s.stepwise || s.joined || s.store.entangled.Load() { // a host's transaction is not run again
		return 1
	}
	return max(1, len(steps))
}

// failedGroup is the error of several steps in one statement. The session is run again, see retryable.
type failedGroup struct{ error }

func (f failedGroup) Unwrap() error { return f.error }

// applyGroup carries out steps in one statement, and returns how many rows each of them was about.
func (s subjectStore) applyGroup(ctx context.Context, steps []domain.Step, key []any) ([]int64, error) {
	op := "erase"
	if len(steps) == 1 {
		op += ": " + string(steps[0].Strategy) + " " + steps[0].Target
	}
	if !s.store.dialect.joins() && steps[0].Strategy != domain.StrategyRetain {
		text, constants := s.store.stepText(steps[0], 0)
		n, err := s.write(ctx, op, text, slices.Concat(key, constants)...)
		return []int64{n}, err
	}
	group := s.store.stepGroupOf(steps)
	results, counts, independent := make([]any, len(steps)), make([]int64, len(steps)), true
	for i := range counts {
		results[i] = &counts[i]
	}
	if len(steps) > 1 {
		results = append(results, &independent)
	}
	err := s.returning(ctx, op, func(r *sql.Rows) error { return r.Scan(results...) }, group.text, group.parameters(key)...)
	if err == nil && !independent {
		s.store.entangled.Store(true)
		err = s.fail(ctx, op, &domain.Error{Op: op, Message: "the steps depend on each other"})
	}
	return counts, err
}
