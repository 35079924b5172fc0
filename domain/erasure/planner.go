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
// The rows of a table are deleted if every annotated column says delete and the rows are wholly the subject's: the
// table is declared owned, or has annotated columns and no other columns but those of the primary key and of relations.
// Otherwise the rows survive: one step anonymizes the annotated columns that are not retained, another step retains the
// rest. If the duty to retain a column ends, the step says so, and domain.Plan.LocalAt returns its effect at an
// instant. A table that has no annotated column and is not owned has no step.
//
// Refused as domain.ErrRetention or domain.ErrManifest, with the table named: a table whose rows survive while a table
// on its path to the subject loses them; one that refers to another such table, unless the database then clears
// columns that may be cleared; and a column that would have to be anonymized although it identifies or links rows.
func (Planner) Plan(m domain.DataMap, resolverNames []string) (domain.Plan, error) {
	ordered, err := m.ChildrenFirst()
	if err != nil {
		return domain.Plan{}, err
	}
	plan := domain.Plan{Steps: []domain.Step{}}
	for _, table := range ordered {
		if table.RowsGo() {
			plan.Steps = append(plan.Steps, domain.Step{Target: table.Name, Strategy: domain.StrategyDelete})
			continue
		}
		if err := checkSurvivor(m, table); err != nil {
			return domain.Plan{}, err
		}
		plan.Steps = append(plan.Steps, stepsOfSurvivor(m, table)...)
	}
	for _, name := range resolverNames {
		plan.Steps = append(plan.Steps, domain.Step{Target: name, Strategy: domain.StrategyDelete, External: true})
	}
	return plan, nil
}

// stepsOfSurvivor are the steps on a table whose rows stay. A retained column that identifies or links rows is never
// overwritten, even where its duty is over.
func stepsOfSurvivor(m domain.DataMap, table domain.Table) []domain.Step {
	anonymize := domain.Step{Target: table.Name, Strategy: domain.StrategyAnonymize}
	retain := domain.Step{Target: table.Name, Strategy: domain.StrategyRetain}
	for _, column := range table.Personal() {
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
	if len(anonymize.Columns) > 0 {
		steps = append(steps, anonymize)
	}
	if len(retain.Columns) > 0 {
		steps = append(steps, retain)
	}
	return steps
}

// checkSurvivor refuses a table whose rows stay when that cannot be: they would lose their way to the subject, or the
// columns that identify and link them would be overwritten.
func checkSurvivor(m domain.DataMap, table domain.Table) error {
	for _, relation := range m.Path(table.Name) {
		if parent, _ := m.Table(relation.References); parent.RowsGo() {
			return orphaned(table, parent, "on its path to the subject")
		}
	}
	for _, relation := range table.Relations {
		parent, inMap := m.Table(relation.References)
		switch {
		case !inMap || !parent.RowsGo() || relation.References == table.Name:
		case !relation.SetsNull:
			return orphaned(table, parent, "to which it refers without ON DELETE SET NULL")
		default:
			if err := checkCleared(m, table, relation); err != nil {
				return err
			}
		}
	}
	for _, column := range table.Personal() {
		if column.Personal.Strategy == domain.StrategyRetain || !m.IsKey(table, column.Name) {
			continue
		}
		return planError(domain.ErrManifest, table.Name+"."+column.Name+
			": would be anonymized, but it identifies or links rows that survive")
	}
	return nil
}

// checkCleared refuses a relation whose columns the database clears with the other row, where one of them must stay:
// because it is retained, or because without it the row could not be told from others or would not be the subject's.
func checkCleared(m domain.DataMap, table domain.Table, relation domain.Relation) error {
	for _, name := range relation.Columns {
		column, _ := table.Column(name)
		retained := column.Personal != nil && column.Personal.Strategy == domain.StrategyRetain
		onPath := len(m.Path(table.Name)) > 0 && slices.Contains(m.Path(table.Name)[0].Columns, name)
		code := domain.ErrManifest
		switch {
		case retained:
			code = domain.ErrRetention
		case !onPath && !slices.Contains(table.PrimaryKey, name) && !slices.Contains(table.SubjectKey, name):
			continue
		}
		return planError(code, table.Name+"."+name+": must stay, but is set to null when the rows of "+
			relation.References+" are deleted")
	}
	return nil
}

// orphaned is the refusal of a table whose rows stay while those of a table they refer to go.
func orphaned(table, parent domain.Table, how string) error {
	code, why := domain.ErrManifest, "its rows survive an erasure"
	for _, column := range table.Personal() {
		if column.Personal.Strategy == domain.StrategyRetain {
			code, why = domain.ErrRetention, table.Name+"."+column.Name+" is retained"
			break
		}
	}
	return planError(code, table.Name+": "+why+", but the rows of "+parent.Name+", "+how+", are deleted")
}

func planError(code domain.Code, message string) error {
	return &domain.Error{Code: code, Op: "erasure plan", Message: message}
}
