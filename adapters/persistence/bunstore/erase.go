package bunstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// Apply implements ports.SubjectStore. Where the database can join them, all steps are one statement. Nobody can tell
// which step such a statement failed at, so the session is then run once more, step by step. Where the database may keep
// what it is told to delete, the steps are carried out one by one and verified.
func (s subjectStore) Apply(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
	key, err := s.store.dataMap.Key(id)
	if err != nil {
		return nil, err
	}
	if err := s.usable(); err != nil {
		return nil, err
	}
	if before, err := s.store.dataMap.CheckSteps(steps); err != nil {
		return make([]int64, before), s.fail(ctx, "erase", err)
	}
	if err := s.forget(ctx); err != nil {
		return nil, err
	}
	live, err := s.known(ctx, id, key)
	if err != nil {
		return nil, err
	}
	if before, err := s.store.refuse(live, steps); err != nil {
		return make([]int64, before), s.fail(ctx, "erase", err)
	}
	s.rectified = nil
	if live.keepsAny() {
		rows, err := s.applyVerified(ctx, key, steps)
		return rows, s.explainStep(ctx, steps, len(rows), err)
	}
	rows := make([]int64, 0, len(steps))
	for group := range slices.Chunk(steps, s.atOnce(steps)) {
		counts, err := s.applyGroup(ctx, group, key)
		if err != nil {
			if len(group) > 1 && s.failed != nil {
				s.stepwise, s.failed = true, failedGroup{s.failed}
				return make([]int64, len(steps)), err // nobody can tell which step it was
			}
			return rows, s.explainStep(ctx, steps, len(rows), err)
		}
		rows = append(rows, counts...)
	}
	return rows, nil
}

// explainStep explains the error of the step that is at fault.
func (s subjectStore) explainStep(ctx context.Context, steps []domain.Step, failed int, err error) error {
	if err == nil || failed == len(steps) {
		return err
	}
	return s.explain(ctx, opOf(steps[failed]), err, needOf(steps[failed]))
}

// refuse returns an error if the steps cannot do what they say in the database as it is, and how many steps come before
// the one at fault.
func (s *Store) refuse(live *catalog, steps []domain.Step) (before int, err error) {
	if table, err := s.refuseHidden(live, "erase"); err != nil {
		if i := slices.IndexFunc(steps, func(step domain.Step) bool { return step.Target == table }); i >= 0 {
			return i, err
		}
		return len(steps), err
	}
	for i, step := range steps {
		if err := s.refuseUnknown(live, step); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// atOnce is how many of the steps go into one statement.
func (s subjectStore) atOnce(steps []domain.Step) int {
	if !s.store.dialect.joins() || s.stepwise || s.joined { // a host's transaction is not run again
		return 1
	}
	return max(1, len(steps))
}

// failedGroup is the error of several steps in one statement. The session is run again, see retryable.
type failedGroup struct{ error }

func (f failedGroup) Unwrap() error { return f.error }

func isGroup(err error) bool {
	var group failedGroup
	return errors.As(err, &group)
}

// applyGroup carries out steps in one statement, and returns how many rows each of them was about.
func (s subjectStore) applyGroup(ctx context.Context, steps []domain.Step, key []any) ([]int64, error) {
	op := "erase"
	if len(steps) == 1 {
		op = opOf(steps[0])
	}
	if !s.store.dialect.joins() && steps[0].Strategy != domain.StrategyRetain {
		text, constants := s.store.stepText(steps[0], 0)
		n, err := s.write(ctx, op, text, slices.Concat(key, constants)...)
		return []int64{n}, err
	}
	group := s.store.stepGroupOf(steps)
	results, counts := make([]any, len(steps)), make([]int64, len(steps))
	for i := range counts {
		results[i] = &counts[i]
	}
	err := s.returning(ctx, op, func(r *sql.Rows) error { return r.Scan(results...) }, group.text, group.parameters(key)...)
	return counts, err
}

func opOf(step domain.Step) string { return "erase: " + string(step.Strategy) + " " + step.Target }
