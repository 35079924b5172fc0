package bunstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// Apply implements ports.SubjectStore. If the database can run several steps in one statement, Apply combines the
// steps. If triggers, rules or views of the database may keep or restore erased values, Apply runs the steps one by one
// and verifies them.
func (s subjectStore) Apply(ctx context.Context, id domain.SubjectID, steps []datamap.Step) (domain.Applied, error) {
	key, err := s.key(id)
	if err != nil {
		return domain.Applied{}, err
	}
	if err := s.usable(); err != nil {
		return domain.Applied{}, err
	}
	if before, err := s.store.text.DataMap.CheckSteps(steps); err != nil {
		return domain.Applied{Rows: make([]int64, before)}, s.fail(ctx, "erase", err)
	}
	if err := s.overwriteDeleted(ctx); err != nil {
		return domain.Applied{}, err
	}
	live, err := s.readCatalog(ctx, id, key)
	if err != nil {
		return domain.Applied{}, err
	}
	if before, err := refuse(live, id, steps); err != nil {
		return domain.Applied{Rows: make([]int64, before)}, s.fail(ctx, "erase", err)
	}
	s.rectified, s.watched = nil, nil
	if live.LeadsOn(steps) {
		return s.applyWatched(ctx, live, id, key, steps)
	}
	rows, err := s.applySteps(ctx, live, id, key, steps)
	return domain.Applied{Rows: rows}, err
}

// applySteps chooses how to run the steps, and runs them.
func (s subjectStore) applySteps(
	ctx context.Context, live *catalog.Catalog, id domain.SubjectID, key []any, steps []datamap.Step,
) ([]int64, error) {
	verified, err := s.mustVerify(ctx, "erase: deferred triggers")
	switch {
	case err != nil:
		return make([]int64, len(steps)), err // len(steps) counts mean that the failed step is not known
	case verified:
		rows, err := s.applyVerified(ctx, key, steps)
		return rows, s.explainStep(ctx, steps, len(rows), err)
	case len(steps) == 0 || ports.Rehearsing(ctx) || !s.store.dialect.CombinesChanges():
		return s.applyEach(ctx, key, steps)
	default:
		return s.applyCombined(ctx, live, id, key, steps)
	}
}

// applyCombined runs all steps in one statement, or in a few statements if a table has several paths. If a statement
// fails, the failed step is not known. A rehearsal names the step, because it runs the steps one by one.
func (s subjectStore) applyCombined(
	ctx context.Context, live *catalog.Catalog, id domain.SubjectID, key []any, steps []datamap.Step,
) ([]int64, error) {
	groups, read := s.store.stepGroupsOf(live, steps), &sqltext.Prefetched{}
	var counts []int64
	for i, group := range groups {
		some := steps[len(counts) : len(counts)+len(group.Steps)]
		args, targets := group.Args(some, key), []any(nil)
		if i == len(groups)-1 {
			args, targets = append(args, id.String()), read.ScanTargets()
		}
		rows, err := s.count(ctx, "erase", group, args, targets...)
		if err != nil {
			return make([]int64, len(steps)), s.explain(ctx, "erase", err, toCarryOut(steps)...)
		}
		if len(groups) == 1 {
			counts = rows
			break
		}
		counts = append(counts, rows...)
	}
	if s.isErasing(id) {
		s.prefetched = read.Decode(id)
	}
	return counts, nil
}

// cachedGroups holds the combined statements for the steps of an erasure, and the catalog for which they were built.
type cachedGroups struct {
	steps  []datamap.Step
	groups []*sqltext.StepGroup
	live   *catalog.Catalog
}

// stepGroupsOf returns the statements that combine the steps. The last statement also prefetches values that the
// erasure needs after its steps. The last parameter of this statement is the id of the subject. The store caches the
// statements of the most recent call, because every erasure follows the same plan.
func (s *Store) stepGroupsOf(live *catalog.Catalog, steps []datamap.Step) []*sqltext.StepGroup {
	if last := s.lastSteps.Load(); last != nil && last.live == live &&
		slices.EqualFunc(last.steps, steps, sqltext.HaveSameText) {
		return last.groups
	}
	cached := &cachedGroups{live: live}
	for len(cached.steps) < len(steps) {
		left := steps[len(cached.steps):]
		group := s.text.Group(live, left[:sqltext.CombinableSteps(left)])
		cached.groups, cached.steps = append(cached.groups, group), append(cached.steps, group.Steps...)
	}
	s.text.AddPrefetch(cached.groups[len(cached.groups)-1])
	s.lastSteps.Store(cached)
	return cached.groups
}

// applyEach runs the steps one by one. On error, it returns the numbers of rows of the steps before the failed step.
func (s subjectStore) applyEach(ctx context.Context, key []any, steps []datamap.Step) ([]int64, error) {
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

func (s subjectStore) applyStep(ctx context.Context, key []any, step datamap.Step) (int64, error) {
	op := opOf(step)
	if step.Strategy != domain.StrategyRetain {
		text, args := s.store.text.Step(s.catalog, step, key)
		return s.write(ctx, op, text, args...)
	}
	steps := []datamap.Step{step}
	group := s.store.text.Group(s.catalog, steps)
	counts, err := s.count(ctx, op, group, group.Args(steps, key))
	return counts[0], err
}

// count runs a combined statement and returns the number of rows of each step. It scans the other columns of the result
// into targets.
func (s subjectStore) count(
	ctx context.Context, op string, group *sqltext.StepGroup, args []any, targets ...any,
) ([]int64, error) {
	counts := make([]int64, len(group.Steps))
	columns := make([]any, len(counts), len(counts)+len(targets))
	for i := range counts {
		columns[i] = &counts[i]
	}
	columns = append(columns, targets...)
	return counts, s.writeRows(ctx, op, func(r *sql.Rows) error { return r.Scan(columns...) }, group.Text, args...)
}

// explainStep returns an error with the reason if the database refused steps[i], for example because of a missing
// privilege. Otherwise, it returns err. If i is len(steps), the failed step is unknown.
func (s subjectStore) explainStep(ctx context.Context, steps []datamap.Step, i int, err error) error {
	if err == nil || i == len(steps) {
		return err
	}
	return s.explain(ctx, opOf(steps[i]), err, catalog.ToCarryOut(steps[i]))
}

// refuse returns an error if the catalog shows that a step must not run. It also returns the index of this step, or
// len(steps) if the error belongs to no step.
func refuse(live *catalog.Catalog, id domain.SubjectID, steps []datamap.Step) (before int, err error) {
	if table, err := live.RefuseSubject(id, "erase"); err != nil {
		if i := slices.IndexFunc(steps, func(step datamap.Step) bool { return step.Target == table }); i >= 0 {
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
		if err := live.RefuseUnseen(step); err != nil {
			return i, err
		}
	}
	return 0, nil
}
