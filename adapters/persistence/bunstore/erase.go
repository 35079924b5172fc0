package bunstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
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
	if before, err := s.store.text.DataMap.CheckSteps(steps); err != nil {
		return make([]int64, before), s.fail(ctx, "erase", err)
	}
	if err := s.forget(ctx); err != nil {
		return nil, err
	}
	live, err := s.readCatalog(ctx, id, key)
	if err != nil {
		return nil, err
	}
	if before, err := refuse(live, id, steps); err != nil {
		return make([]int64, before), s.fail(ctx, "erase", err)
	}
	s.rectified = nil
	switch {
	case live.KeepsAny():
		rows, err := s.applyVerified(ctx, key, steps)
		return rows, s.explainStep(ctx, steps, len(rows), err)
	case len(steps) > 0 && s.canBeginAgain():
		return s.applyTogether(ctx, live, id, key, steps)
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
	return s.store.dialect.Joins() && !s.joined && done == 0
}

// applyTogether carries out all steps in one statement, or in a few where tables have several paths. A statement does
// not say which step it failed at: the transaction then begins again and carries them out one by one.
func (s subjectStore) applyTogether(
	ctx context.Context, live *catalog.Catalog, id domain.SubjectID, key []any, steps []domain.Step,
) ([]int64, error) {
	groups, read := s.store.stepGroupsOf(live, steps), &sqltext.Ahead{}
	var counts []int64
	for i, group := range groups {
		some := steps[len(counts) : len(counts)+len(group.Steps)]
		args, targets := group.Args(some, key), []any(nil)
		if i == len(groups)-1 {
			args, targets = append(args, id.String()), read.Targets()
		}
		rows, err := s.count(ctx, "erase", group, args, targets...)
		if err != nil {
			return s.applyApart(ctx, key, steps, err)
		}
		if len(groups) == 1 {
			counts = rows
			break
		}
		counts = append(counts, rows...)
	}
	if s.locked != nil && s.locked.id == id {
		s.ahead = read.Decode(id)
	}
	return counts, nil
}

// applyApart carries out steps one by one after they have failed together.
func (s subjectStore) applyApart(ctx context.Context, key []any, steps []domain.Step, err error) ([]int64, error) {
	if ctx.Err() != nil || conn.Retryable(err) || errors.Is(err, domain.ErrUnavailable) {
		return make([]int64, len(steps)), err // of no step
	}
	if err := s.beginAgain(ctx); err != nil {
		return make([]int64, len(steps)), err
	}
	return s.applyEach(ctx, key, steps)
}

// keptGroups are the statements of steps, the last of which also reads ahead, for a database as it is.
type keptGroups struct {
	steps  []domain.Step
	groups []*sqltext.StepGroup
	live   *catalog.Catalog
}

// stepGroupsOf returns the statements of steps. The last one also reads ahead, for the subject that its last parameter
// names. Every erasure follows the same plan, so the last statements are kept.
func (s *Store) stepGroupsOf(live *catalog.Catalog, steps []domain.Step) []*sqltext.StepGroup {
	if last := s.lastSteps.Load(); last != nil && last.live == live &&
		slices.EqualFunc(last.steps, steps, sqltext.SameText) {
		return last.groups
	}
	kept := &keptGroups{live: live}
	for len(kept.steps) < len(steps) {
		left := steps[len(kept.steps):]
		group := s.text.Group(live, left[:sqltext.Together(left)])
		kept.groups, kept.steps = append(kept.groups, group), append(kept.steps, group.Steps...)
	}
	s.text.ReadAhead(kept.groups[len(kept.groups)-1])
	s.lastSteps.Store(kept)
	return kept.groups
}

// beginAgain gives the session a new transaction, in which the subject is locked if it was before.
func (s subjectStore) beginAgain(ctx context.Context) error {
	err := s.tx.Rollback(ctx)
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
		text, args := s.store.text.Step(s.catalog, step, key)
		return s.write(ctx, op, text, args...)
	}
	steps := []domain.Step{step}
	group := s.store.text.Group(s.catalog, steps)
	counts, err := s.count(ctx, op, group, group.Args(steps, key))
	return counts[0], err
}

// count runs a statement of steps, and returns how many rows each of them was about. More columns than those go into
// more.
func (s subjectStore) count(
	ctx context.Context, op string, group *sqltext.StepGroup, args []any, more ...any,
) ([]int64, error) {
	counts := make([]int64, len(group.Steps))
	targets := make([]any, len(counts), len(counts)+len(more))
	for i := range counts {
		targets[i] = &counts[i]
	}
	targets = append(targets, more...)
	return counts, s.writeRows(ctx, op, func(r *sql.Rows) error { return r.Scan(targets...) }, group.Text, args...)
}

// explainStep explains the error of the step that is at fault.
func (s subjectStore) explainStep(ctx context.Context, steps []domain.Step, failed int, err error) error {
	if err == nil || failed == len(steps) {
		return err
	}
	return s.explain(ctx, opOf(steps[failed]), err, catalog.ToCarryOut(steps[failed]))
}

// refuse returns an error if the steps cannot do what they say in the database as it is, and how many steps come before
// the one at fault.
func refuse(live *catalog.Catalog, id domain.SubjectID, steps []domain.Step) (before int, err error) {
	if table, err := live.RefuseHidden(id, "erase"); err != nil {
		if i := slices.IndexFunc(steps, func(step domain.Step) bool { return step.Target == table }); i >= 0 {
			return i, err
		}
		return len(steps), err
	}
	for i, step := range steps {
		if err := live.RefuseUnknown(step); err != nil {
			return i, err
		}
		if err := live.RefuseNull(step); err != nil {
			return i, err
		}
	}
	return 0, nil
}
