// Package erasure plans, rehearses and carries out the erasure of a subject (Art. 17 GDPR). The data map alone
// determines which rows an erasure deletes, which columns it anonymizes and which data it retains. Planner returns
// these effects before any subject is erased. Eraser carries them out. See the example of [Eraser.Erase].
package erasure

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// Planner turns a data map into an erasure plan. It uses no clock and no I/O. Equal data maps give equal plans.
type Planner struct{}

// Plan returns the plan for the tables of the data map and for the named external systems. In this text, a path is the
// chain of references from a table to the subject's table.
//
// The rows of a table are deleted in two cases (datamap.DataMap.RowsDeleted):
//
//   - The strategy of the path (datamap.Path.OnErasure) is delete.
//   - The rows belong only to the subject, and the strategy of every annotated column is erase or delete.
//
// Otherwise the rows survive, and the plan has these steps for them:
//
//   - One step anonymizes the annotated columns that are not retained, or sets them to NULL if their strategy is null.
//     If the strategy of the path is null, this step, or another one, clears the reference to the subject.
//   - One step has the strategy retain and lists the other annotated columns, which keep their values. If the duty to
//     retain a column has an end, the step lists the column in Expired. plan.LocalAt returns the steps at an
//     instant.
//
// A table has no step if it has no annotated column, is not owned (datamap.Table.Owned), and its paths have no
// strategy. A table with several paths has steps for each path. The steps of a table come after those of the tables
// that refer to it, and the steps for external systems come last. The steps of a table come in this order:
//
//   - The steps that clear references to deleted rows of the same table (datamap.Step.Self).
//   - The steps that delete rows.
//   - The other steps, in the order of the paths.
//   - The steps that clear a reference shared by several paths.
//
// Plan returns domain.ErrRetention or domain.ErrManifest with one problem for each mistake:
//
//   - The relations between tables form a cycle.
//   - The rows of a table survive, but the rows of a table on its path to the subject are deleted.
//   - The rows of a table survive but refer to deleted rows, and the database does not set the reference to NULL (ON
//     DELETE SET NULL).
//   - The rows of two tables are deleted, and rows of one table may refer to rows of another person in the other table,
//     by a relation that begins no path and that the database does not set to NULL.
//   - If an erasure deleted the rows of a table, the database would set a reference to these rows to NULL (ON DELETE
//     SET NULL), but a column of the reference must keep its value.
//   - The strategy of a path deletes rows, but the strategy of a column in these rows keeps the rows.
//   - A path clears the reference that connects retained columns to the subject.
//   - A column would have to be anonymized, but it identifies or links rows.
func (Planner) Plan(m datamap.DataMap, resolverNames []string) (datamap.Plan, error) {
	ordered, err := m.ChildrenFirst()
	if err != nil {
		return datamap.Plan{}, err
	}
	if err := m.ManifestError("erasure plan", problems(m, nil)); err != nil {
		return datamap.Plan{}, err
	}
	planned := datamap.Plan{Steps: []datamap.Step{}}
	for _, table := range ordered {
		planned.Steps = append(planned.Steps, stepsOf(m, table)...)
	}
	for _, name := range resolverNames {
		planned.Steps = append(planned.Steps, datamap.Step{Target: name, Strategy: domain.StrategyDelete, External: true})
	}
	return planned, nil
}

func stepsOf(m datamap.DataMap, table datamap.Table) []datamap.Step {
	var deleting, others, clearing []datamap.Step
	paths := m.Paths(table.Name)
	for _, reference := range m.SelfReferences(table) {
		deleting = append(deleting, datamap.Step{
			Target: table.Name, Strategy: domain.StrategyAnonymize, ClearedColumns: reference.ClearedColumns, Self: true,
		})
	}
	for _, path := range paths {
		if m.RowsDeleted(table, path) {
			step := datamap.Step{Target: table.Name, Strategy: domain.StrategyDelete, Via: path.Via}
			deleting = append(deleting, step)
			continue
		}
		for _, step := range plan.StepsOfSurvivor(m, table, path) {
			if len(step.ClearedColumns) > 0 && len(step.Columns) > 0 && sharesReference(paths, path) {
				clearing = append(clearing, datamap.Step{
					Target: step.Target, Strategy: step.Strategy, Via: step.Via, ClearedColumns: step.ClearedColumns,
				})
				step.ClearedColumns = nil
			}
			if plan.OnlyClearsColumns(step) && sharesReference(paths, path) {
				clearing = append(clearing, step)
				continue
			}
			others = append(others, step)
		}
	}
	return slices.Concat(deleting, others, clearing)
}

// sharesReference reports whether another path to the subject begins with the same reference as the given path. An
// erasure clears such a reference last, because the steps of the other path still need it to find their rows.
func sharesReference(paths []datamap.Path, path datamap.Path) bool {
	return slices.ContainsFunc(paths, func(other datamap.Path) bool {
		return other.Via != path.Via && other.Relations[0].Equals(path.Relations[0])
	})
}
