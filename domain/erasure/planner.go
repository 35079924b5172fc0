// Package erasure plans and carries out the erasure of a subject (Art. 17 GDPR). The effects of an erasure (the rows
// that are deleted, the columns that are anonymized, the data that has to stay) follow from the data map alone, and are
// known before any subject is erased.
package erasure

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// Planner turns a data map into an erasure plan. It is a pure function: no clock, no I/O, and equal input gives equal
// plans.
type Planner struct{}

// Plan returns the plan for the tables of the data map and the external systems named.
//
// The rows of a table are deleted as domain.DataMap.RowsGo says: every annotated column says erase or delete and the
// rows are wholly the subject's, or the path says so. Otherwise the rows survive: one step anonymizes the annotated
// columns that are not retained, or sets them to NULL where they say so, and clears the reference to the subject where
// the path says null; another step retains the rest. If the duty to retain a column ends, the step says so, and
// domain.Plan.LocalAt returns its effect at an instant. A table that has no annotated column, is not owned, and whose
// path says nothing has no step.
//
// A table with several paths has such steps for each of them, on the columns that belong to the path: first those that
// delete rows, then the others, in the order of the paths; last those that clear a reference that several paths share.
//
// Refused as domain.ErrRetention or domain.ErrManifest, with every table at fault named: a table whose rows survive
// while a table on its path to the subject loses them; one that refers to another such table, unless the database then
// clears columns that may be cleared; a path that deletes rows with columns that have to stay, or that clears the way
// to retained ones; and a column that would have to be anonymized although it identifies or links rows.
func (Planner) Plan(m domain.DataMap, resolverNames []string) (domain.Plan, error) {
	ordered, err := m.ChildrenFirst()
	if err != nil {
		return domain.Plan{}, err
	}
	if err := m.Refused("erasure plan", problems(m, nil)); err != nil {
		return domain.Plan{}, err
	}
	plan := domain.Plan{Steps: []domain.Step{}}
	for _, table := range ordered {
		plan.Steps = append(plan.Steps, stepsOf(m, table)...)
	}
	for _, name := range resolverNames {
		plan.Steps = append(plan.Steps, domain.Step{Target: name, Strategy: domain.StrategyDelete, External: true})
	}
	return plan, nil
}

// stepsOf are the steps on a table.
func stepsOf(m domain.DataMap, table domain.Table) []domain.Step {
	var deleting, others, clearing []domain.Step
	paths := m.Paths(table.Name)
	for _, path := range paths {
		if m.RowsGo(table, path) {
			step := domain.Step{Target: table.Name, Strategy: domain.StrategyDelete, Via: path.Via}
			deleting = append(deleting, step)
			continue
		}
		for _, step := range stepsOfSurvivor(m, table, path) {
			if len(step.Clears) > 0 && len(step.Columns) > 0 && sharesReference(paths, path) {
				clearing = append(clearing, domain.Step{
					Target: step.Target, Strategy: step.Strategy, Via: step.Via, Clears: step.Clears,
				})
				step.Clears = nil
			}
			if step.OnlyClears() && sharesReference(paths, path) {
				clearing = append(clearing, step)
				continue
			}
			others = append(others, step)
		}
	}
	return slices.Concat(deleting, others, clearing)
}

// sharesReference reports whether another path begins with the reference of the path. The reference is then cleared
// last: a row from which both lead to the subject would not be found along the other one.
func sharesReference(paths []domain.Path, path domain.Path) bool {
	return slices.ContainsFunc(paths, func(other domain.Path) bool {
		return other.Via != path.Via && other.Relations[0].Equals(path.Relations[0])
	})
}

// stepsOfSurvivor are the steps along a path on a table whose rows stay. A retained column that identifies or links
// rows is never overwritten, even where its duty is over.
func stepsOfSurvivor(m domain.DataMap, table domain.Table, path domain.Path) []domain.Step {
	anonymize := domain.Step{Target: table.Name, Strategy: domain.StrategyAnonymize, Via: path.Via}
	anonymize.Clears = m.Clears(table, path)
	retain := domain.Step{Target: table.Name, Strategy: domain.StrategyRetain, Via: path.Via}
	for _, column := range path.Personal(table) {
		if column.Personal.Strategy != domain.StrategyRetain {
			anonymize.Columns = append(anonymize.Columns, column.Name)
			continue
		}
		retain.Columns = append(retain.Columns, column.Name)
		if column.Personal.Since != "" && !m.IsKey(table, column.Name) {
			retain.Expired = append(retain.Expired, column.Name)
		}
	}
	var steps []domain.Step
	if len(anonymize.Columns)+len(anonymize.Clears) > 0 {
		steps = append(steps, anonymize)
	}
	if len(retain.Columns) > 0 {
		steps = append(steps, retain)
	}
	return steps
}
