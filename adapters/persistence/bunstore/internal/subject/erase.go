package subject

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/cascade"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/outbox"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// Apply implements ports.SubjectStore. If the database can run several steps in one statement, Apply combines the
// steps. If triggers, rules or views of the database may keep or restore erased values, Apply runs the steps one by one
// and verifies them.
func (s *Work) Apply(ctx context.Context, id domain.SubjectID, steps []datamap.Step) (domain.Applied, error) {
	key, err := s.key(id)
	if err != nil {
		return domain.Applied{}, err
	}
	if err := s.db.Usable(); err != nil {
		return domain.Applied{}, err
	}
	if before, err := plan.CheckSteps(s.store.writer.DataMap, steps); err != nil {
		return domain.Applied{Rows: make([]int64, before)}, s.db.Fail(ctx, "erase", err)
	}
	if err := s.db.OverwriteDeleted(ctx); err != nil {
		return domain.Applied{}, err
	}
	schema, err := s.readSchema(ctx, id, key)
	if err != nil {
		return domain.Applied{}, err
	}
	if before, err := refuse(schema, id, steps); err != nil {
		return domain.Applied{Rows: make([]int64, before)}, s.db.Fail(ctx, "erase", err)
	}
	s.rectified = nil
	s.latest = map[int]map[string]time.Time{}
	applied, err := s.watched(ctx, cascade.Changes{Op: "erase", Key: key, Steps: steps}, func() ([]int64, error) {
		return s.applySteps(ctx, schema, id, key, steps)
	})
	applied.Latest = s.latest
	return applied, err
}

// watched runs steps, and counts the rows that the database deletes or changes besides.
func (s *Work) watched(
	ctx context.Context, changes cascade.Changes, run func() ([]int64, error),
) (domain.Applied, error) {
	s.triggers, s.checked = false, nil
	if !s.schema.LeadsOn(changes.Steps) {
		rows, err := run()
		return domain.Applied{Rows: rows}, err
	}
	fired, late, rectified := s.fired, s.late, s.rectified
	defer func() { s.triggers, s.checked = false, nil }()
	changes.Run = func(acts bool) ([]int64, []*verify.Step, error) {
		s.triggers, s.fired, s.late, s.rectified, s.checked = acts, fired, late, slices.Clone(rectified), nil
		rows, err := run()
		return rows, s.checked, err
	}
	return s.store.cascades.Apply(ctx, s.db, s.schema, changes)
}

// applySteps chooses how to run the steps, and runs them.
func (s *Work) applySteps(
	ctx context.Context, schema *live.Schema, id domain.SubjectID, key []any, steps []datamap.Step,
) ([]int64, error) {
	verified, err := s.mustVerify(ctx, "erase: deferred triggers", steps)
	var rows []int64
	s.blank = sql.NullBool{}
	switch {
	case err != nil:
		return make([]int64, len(steps)), err // len(steps) counts mean that the failed step is not known
	case verified:
		rows, err = s.applyVerified(ctx, key, steps, func() error { return s.distinguish(ctx, id, key, steps) })
		return rows, s.explainStep(ctx, steps, len(rows), err)
	case len(steps) == 0 || ports.Rehearsing(ctx) || !s.store.dialect.CombinesChanges():
		rows, err = s.applyEach(ctx, key, steps)
	default:
		rows, err = s.applyCombined(ctx, schema, id, key, steps)
	}
	if err == nil {
		err = s.distinguish(ctx, id, key, steps)
	}
	return rows, err
}

// applyCombined runs all steps in one statement, or in a few statements if a table has several paths. If a statement
// fails, the failed step is not known. A rehearsal names the step, because it runs the steps one by one.
func (s *Work) applyCombined(
	ctx context.Context, schema *live.Schema, id domain.SubjectID, key []any, steps []datamap.Step,
) ([]int64, error) {
	groups, read := s.store.stepGroupsOf(schema, steps), &unsent.Prefetched{}
	var counts []int64
	for i, group := range groups {
		some := steps[len(counts) : len(counts)+len(group.Steps)]
		args, targets := group.Args(some, key), []any(nil)
		if i == len(groups)-1 {
			args, targets = append(args, id.String()), append(read.ScanTargets(), &s.blank)
		}
		rows, err := s.count(ctx, "erase", group, len(counts), args, targets...)
		if err != nil {
			return make([]int64, len(steps)), s.explain(ctx, "erase", err, toCarryOut(steps)...)
		}
		if len(groups) == 1 {
			counts = rows
			break
		}
		counts = append(counts, rows...)
	}
	if s.unsent.Erasing(id) != nil && !s.unsent.Has(unsent.Consents, unsent.Restrictions, unsent.Entries) {
		s.unsent.Prefetched = read.Decode(id)
	}
	return counts, nil
}

// cachedGroups holds the combined statements for the steps of an erasure, and the schema for which they were built.
type cachedGroups struct {
	steps  []datamap.Step
	groups []*rows.StepGroup
	schema *live.Schema
}

// stepGroupsOf returns the statements that combine the steps. The last statement also prefetches values that the
// erasure needs after its steps. The last parameter of this statement is the id of the subject. The store caches the
// statements of the most recent call, because every erasure follows the same plan.
func (s *Store) stepGroupsOf(schema *live.Schema, steps []datamap.Step) []*rows.StepGroup {
	if last := s.lastSteps.Load(); last != nil && last.schema == schema &&
		slices.EqualFunc(last.steps, steps, rows.HaveSameText) {
		return last.groups
	}
	cached := &cachedGroups{schema: schema}
	for len(cached.steps) < len(steps) {
		left := steps[len(cached.steps):]
		group := s.writer.Group(schema, left[:rows.CombinableSteps(left)])
		cached.groups, cached.steps = append(cached.groups, group), append(cached.steps, group.Steps...)
	}
	addPrefetch(s.writer, cached.groups[len(cached.groups)-1])
	s.lastSteps.Store(cached)
	return cached.groups
}

// prefetchColumns reads the values of a Prefetched in additional columns of a statement. Instants have a fixed format,
// so that the settings of the session have no effect.
const prefetchColumns = `,
	EXISTS (SELECT FROM {outbox} WHERE ` + outbox.UnsentCorrections + `),
	(SELECT json_agg(json_build_array(purpose, policy_version, granted, source,
		to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
	FROM (` + ledger.ReadConsentsInForce + `) AS in_force),
	` + isBlank

// addPrefetch adds the columns of a Prefetched to the statement of a group. The subject's id becomes the last
// parameter.
func addPrefetch(w *rows.Writer, g *rows.StepGroup) {
	subject := syntax.Placeholder(len(g.Args(g.Steps, make([]any, len(w.DataMap.SubjectTable().SubjectKey)))) + 1)
	_, blank := w.Blank()
	g.Text += w.Tables.Fill(prefetchColumns, "subject", subject, "until", "0", // the erasure withdraws all consents
		"table", syntax.QuoteTable(w.DataMap.SubjectTable().Name), "blank", blank)
}

// applyEach runs the steps one by one. On error, it returns the numbers of rows of the steps before the failed step.
func (s *Work) applyEach(ctx context.Context, key []any, steps []datamap.Step) ([]int64, error) {
	rows := make([]int64, 0, len(steps))
	for i, step := range steps {
		n, err := s.applyStep(ctx, key, i, step)
		if err != nil {
			return rows, s.explainStep(ctx, steps, len(rows), err)
		}
		rows = append(rows, n)
	}
	return rows, nil
}

// applyStep runs the step with the given index.
func (s *Work) applyStep(ctx context.Context, key []any, index int, step datamap.Step) (int64, error) {
	op := opOf(step)
	if step.Strategy != domain.StrategyRetain {
		text, args := s.store.writer.Step(s.schema, step, key)
		return s.db.Write(ctx, op, text, args...)
	}
	steps := []datamap.Step{step}
	group := s.store.writer.Group(s.schema, steps)
	counts, err := s.count(ctx, op, group, index, group.Args(steps, key))
	return counts[0], err
}

// count runs a combined statement and returns the number of rows of each step. The parameter first is the index of its
// first step. It scans the other columns of the result into targets.
func (s *Work) count(
	ctx context.Context, op string, group *rows.StepGroup, first int, args []any, targets ...any,
) ([]int64, error) {
	counts, starts := make([]int64, len(group.Steps)), make([][]byte, len(group.Dated))
	columns := conn.AddTargets(make([]any, 0, len(counts)+len(starts)+len(targets)), counts)
	columns = append(conn.AddTargets(columns, starts), targets...)
	err := s.db.WriteRows(ctx, op, func(r *sql.Rows) error { return r.Scan(columns...) }, group.Text, args...)
	for i, step := range group.Dated {
		s.latest[first+step] = s.store.writer.Latest(group.Steps[step], counts[step], starts[i])
	}
	return counts, err
}

// explainStep returns an error with the reason if the database refused steps[i], for example because of a missing
// privilege. Otherwise, it returns err. If i is len(steps), the failed step is unknown.
func (s *Work) explainStep(ctx context.Context, steps []datamap.Step, i int, err error) error {
	if err == nil || i == len(steps) {
		return err
	}
	return s.explain(ctx, opOf(steps[i]), err, live.ToCarryOut(steps[i]))
}

// refuse returns an error if the schema shows that a step must not run. It also returns the index of this step, or
// len(steps) if the error belongs to no step.
func refuse(schema *live.Schema, id domain.SubjectID, steps []datamap.Step) (before int, err error) {
	if table, err := schema.RefuseSubject(id, "erase"); err != nil {
		if i := slices.IndexFunc(steps, func(step datamap.Step) bool { return step.Target == table }); i >= 0 {
			return i, err
		}
		return len(steps), err
	}
	for i, step := range steps {
		if err := schema.RefuseUnknown(step); err != nil {
			return i, err
		}
		if err := schema.RefuseNull(step); err != nil {
			return i, err
		}
		if err := schema.RefuseUnseen(step); err != nil {
			return i, err
		}
		if err := schema.RefuseUnlockedStep(step); err != nil {
			return i, err
		}
	}
	return 0, nil
}

func opOf(step datamap.Step) string { return "erase: " + string(step.Strategy) + " " + step.Target }
