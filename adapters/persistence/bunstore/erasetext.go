package bunstore

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// stepGroup is a statement that carries out steps, and returns for each how many rows it was about. Where there are
// several, it says last whether they were independent of each other.
type stepGroup struct {
	steps     []domain.Step
	text      string
	constants [][]any // parameters of each common table expression; before them come those of the subject's key
}

// parameters are those of the statement for a subject.
func (g *stepGroup) parameters(key []any) []any {
	var args []any
	for _, constants := range g.constants {
		args = append(append(args, key...), constants...)
	}
	return args
}

// stepGroupOf returns the statement of steps. Several are most likely those of the erasure before, for which it is there.
func (s *Store) stepGroupOf(steps []domain.Step) *stepGroup {
	if last := s.lastSteps.Load(); last != nil && slices.EqualFunc(last.steps, steps, sameStep) {
		return last
	}
	group := s.newStepGroup(steps)
	if len(steps) > 1 {
		s.lastSteps.Store(group)
	}
	return group
}

func sameStep(a, b domain.Step) bool {
	return a.Target == b.Target && a.Strategy == b.Strategy && a.External == b.External && slices.Equal(a.Columns, b.Columns)
}

func (s *Store) newStepGroup(steps []domain.Step) *stepGroup {
	group := &stepGroup{}
	var bodies []string
	selects, parameters := make([]string, len(steps)), 0
	for i, step := range steps {
		step.Columns = slices.Clone(step.Columns)
		group.steps = append(group.steps, step)
		same := slices.IndexFunc(steps, func(other domain.Step) bool {
			return other.Target == step.Target && other.Strategy == domain.StrategyAnonymize
		})
		if step.Strategy == domain.StrategyRetain && same >= 0 { // all rows are counted there already
			selects[i] = countOf(same)
			continue
		}
		body, constants := s.stepText(step, parameters)
		parameters += len(s.dataMap.SubjectTable().SubjectKey) + len(constants)
		if step.Strategy != domain.StrategyRetain {
			body += " RETURNING 1"
		}
		group.constants = append(group.constants, constants)
		bodies = append(bodies, nameOf(i)+" AS ("+body+")")
		selects[i] = countOf(i)
	}
	if len(steps) > 1 {
		selects = append(selects, independentTables(steps))
	}
	group.text = "WITH " + strings.Join(bodies, ", ") + " SELECT " + strings.Join(selects, ", ")
	return group
}

func nameOf(step int) string { return "s" + strconv.Itoa(step) }

func countOf(step int) string { return "(SELECT count(*) FROM " + nameOf(step) + ")" }

// independentTables is the condition under which steps may be one statement. It sees the rows as they were before any
// of them, and changes a row once: what a trigger of the application adds for one step is not there for the next, and of
// two changes to a row, through a view for one, the second is lost without an error.
func independentTables(steps []domain.Step) string {
	var tables, conditions []string
	for _, step := range steps {
		table := "CAST('" + strings.ReplaceAll(quoteTable(step.Target), "'", "''") + "' AS regclass)"
		if slices.Contains(tables, table) {
			continue
		}
		tables = append(tables, table)
		conditions = append(conditions, "EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE oid = "+table+
			" AND relkind = 'r' AND NOT relhassubclass)")
	}
	conditions = append(conditions, "NOT EXISTS (SELECT 1 FROM pg_catalog.pg_trigger WHERE tgrelid IN ("+
		strings.Join(tables, ", ")+") AND NOT tgisinternal)")
	return strings.Join(conditions, " AND ")
}

// stepText is the statement of one step, whose parameters come after so many others: those of the subject's key and
// then the constants.
func (s *Store) stepText(step domain.Step, others int) (text string, constants []any) {
	table, _ := s.dataMap.Table(step.Target)
	from, where := quoteTable(table.Name)+" AS t0", " WHERE "+s.rowsOf(table, others)
	switch step.Strategy {
	case domain.StrategyDelete:
		return "DELETE FROM " + from + where, nil
	case domain.StrategyAnonymize:
		assignments, constants := s.surrogates(table, step.Columns, others+len(s.dataMap.SubjectTable().SubjectKey))
		return "UPDATE " + from + " SET " + assignments + where, constants
	case domain.StrategyRetain:
	}
	return "SELECT 1 FROM " + from + where, nil
}

// surrogates is the SET list that anonymizes columns. Its constants are parameters, which come after so many others: in
// the text of a statement, quotes and question marks would be at the mercy of the driver and of bun.
func (s *Store) surrogates(table domain.Table, names []string, others int) (list string, constants []any) {
	assignments := make([]string, len(names))
	for i, name := range names {
		column, _ := table.Column(name)
		surrogate := s.dialect.surrogate(column)
		if column.Surrogate != "" {
			constants = append(constants, column.Surrogate)
			surrogate = "$" + strconv.Itoa(others+len(constants))
		}
		assignments[i] = quote(name) + " = " + surrogate
	}
	return strings.Join(assignments, ", "), constants
}
