package bunstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// Apply implements ports.SubjectStore. All steps are one statement where the database can join them. Where the database
// may keep what it is told to delete, the steps are carried out one by one and verified.
func (s subjectStore) Apply(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
	key, err := s.key(id)
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
	if before, err := s.store.refuse(live, id, steps); err != nil {
		return make([]int64, before), s.fail(ctx, "erase", err)
	}
	s.rectified = nil
	switch {
	case live.keepsAny():
		rows, err := s.applyVerified(ctx, key, steps)
		return rows, s.explainStep(ctx, steps, len(rows), err)
	case len(steps) > 0 && s.canBeginAgain():
		return s.applyTogether(ctx, id, key, steps)
	default:
		return s.applyEach(ctx, key, steps)
	}
}

// canBeginAgain reports whether the session's transaction is its own and has done nothing yet but lock a subject.
func (s subjectStore) canBeginAgain() bool {
	done := s.writes
	if s.locked != nil {
		done -= s.locked.writes
	}
	return s.store.dialect.joins() && !s.joined && done == 0
}

// applyTogether carries out all steps in one statement. A statement does not say which step it failed at: the
// transaction then begins again and carries them out one by one.
func (s subjectStore) applyTogether(
	ctx context.Context, id domain.SubjectID, key []any, steps []domain.Step,
) ([]int64, error) {
	group, read := s.store.stepGroupOf(steps), &ahead{}
	counts, err := s.count(ctx, "erase", group, group.parameters(key, id.String()), read.targets()...)
	if err == nil {
		if s.locked != nil && s.locked.id == id {
			s.ahead = read.decode(id)
		}
		return counts, nil
	}
	if ctx.Err() != nil || retryable(err) || errors.Is(err, domain.ErrUnavailable) {
		return make([]int64, len(steps)), err // of no step
	}
	if err := s.beginAgain(ctx); err != nil {
		return make([]int64, len(steps)), err
	}
	return s.applyEach(ctx, key, steps)
}

// beginAgain gives the session a new transaction, in which the subject is locked if it was before.
func (s subjectStore) beginAgain(ctx context.Context) error {
	err := s.tx.rollback(ctx)
	s.tx, s.failed, s.writes = nil, nil, 0
	if err != nil {
		return s.fail(ctx, "rollback", err)
	}
	if s.locked == nil {
		return s.begin(ctx)
	}
	return s.Lock(ctx, s.locked.id, s.locked.at)
}

// applyEach carries out steps one by one, and returns the counts of those before the one that fails.
func (s subjectStore) applyEach(ctx context.Context, key []any, steps []domain.Step) ([]int64, error) {
	rows := make([]int64, 0, len(steps))
	for _, step := range steps {
		n, err := s.applyStep(ctx, key, step)
		if err != nil {
			return rows, s.explainStep(ctx, steps, len(rows), err)
		}
		rows = append(rows, n)
	}
	return rows, nil
}

func (s subjectStore) applyStep(ctx context.Context, key []any, step domain.Step) (int64, error) {
	op := opOf(step)
	if step.Strategy != domain.StrategyRetain {
		text, constants := s.store.stepText(step, 0)
		return s.write(ctx, op, text, slices.Concat(key, constants)...)
	}
	group := s.store.newStepGroup([]domain.Step{step})
	counts, err := s.count(ctx, op, group, group.parameters(key))
	return counts[0], err
}

// count runs a statement of steps, and returns how many rows each of them was about. More columns than those go into
// more.
func (s subjectStore) count(
	ctx context.Context, op string, group *stepGroup, args []any, more ...any,
) ([]int64, error) {
	counts := make([]int64, len(group.steps))
	targets := make([]any, len(counts), len(counts)+len(more))
	for i := range counts {
		targets[i] = &counts[i]
	}
	targets = append(targets, more...)
	return counts, s.returning(ctx, op, func(r *sql.Rows) error { return r.Scan(targets...) }, group.text, args...)
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
func (s *Store) refuse(live *catalog, id domain.SubjectID, steps []domain.Step) (before int, err error) {
	if table, err := s.refuseHidden(live, id, "erase"); err != nil {
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

func opOf(step domain.Step) string { return "erase: " + string(step.Strategy) + " " + step.Target }
