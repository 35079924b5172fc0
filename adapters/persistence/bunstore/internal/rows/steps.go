package rows

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// Live has properties of the tables in the database. The keys of Types are the names of the columns. See
// live.Schema.StatesConflicts.
type Live interface {
	Types(table string) map[string]string
	StatesConflicts(table string) bool
}

// StepGroup is a statement that executes several steps of an erasure. It returns the number of affected rows for each
// step, and then the starts of the retention duties for each step of Dated (see Writer.Latest).
type StepGroup struct {
	Steps []datamap.Step
	Text  string
	Dated []int // the indexes of the steps that retain values for a period
	parts []stepPart
}

// stepPart is the part of a StepGroup for one step: a common table expression. Its parameters are the subject's key,
// followed by the constants.
type stepPart struct {
	step      int // the index of the step
	constants []any
}

// Args returns the parameters of the statement for a subject, followed by further parameters. The steps must be the
// steps of the group, but may have other instants (datamap.Step.At).
func (g *StepGroup) Args(steps []datamap.Step, key []any, more ...any) []any {
	var args []any
	for _, part := range g.parts {
		args = append(append(args, key...), ResolveConstants(part.constants, steps[part.step].At)...)
	}
	return append(args, more...)
}

// HaveSameText reports whether the statement that executes step a can also execute step b. Only the instants of the two
// steps (datamap.Step.At) may differ, because an instant is a parameter of the statement. HaveSameText returns false if
// a step has a Scope, because a Scope contains further instants.
func HaveSameText(a, b datamap.Step) bool {
	return a.Target == b.Target && a.Via == b.Via && a.Self == b.Self &&
		a.Strategy == b.Strategy && a.External == b.External &&
		slices.Equal(a.Columns, b.Columns) && slices.Equal(a.ClearedColumns, b.ClearedColumns) &&
		slices.Equal(a.Expired, b.Expired) && a.At.IsZero() == b.At.IsZero() && a.Scope == nil && b.Scope == nil
}

// CombinableSteps returns the number of steps, from the first on, that one statement can execute. No two parts of a
// statement may change the same row, because only one of the changes would take effect. A step therefore needs a new
// statement in two cases:
//
//   - The step has the table of an earlier step, but reaches this table over another path.
//   - The step has the table of an earlier step, and one of the two only sets references to NULL.
func CombinableSteps(steps []datamap.Step) int {
	for i, step := range steps {
		if slices.ContainsFunc(steps[:i], func(other datamap.Step) bool {
			return other.Target == step.Target && (other.Via != step.Via || other.Self || plan.OnlyClearsColumns(step))
		}) {
			return i
		}
	}
	return len(steps)
}

// Group returns the statement that executes all steps.
func (w *Writer) Group(live Live, steps []datamap.Step) *StepGroup {
	group := &StepGroup{}
	var bodies, starts []string
	selects, parameters := make([]string, len(steps)), 0
	for i, step := range steps {
		step.Columns, step.Expired = slices.Clone(step.Columns), slices.Clone(step.Expired)
		step.ClearedColumns = slices.Clone(step.ClearedColumns)
		group.Steps = append(group.Steps, step)
		same := slices.IndexFunc(steps, func(other datamap.Step) bool {
			return other.Target == step.Target && other.Via == step.Via && !other.Self &&
				other.Strategy == domain.StrategyAnonymize && !plan.OnlyExpired(other)
		})
		// A retain step needs no part of its own if an anonymize step counts the same rows.
		if step.Strategy == domain.StrategyRetain && len(step.Expired) == 0 && same >= 0 {
			selects[i] = cteCount(same)
			continue
		}
		body, constants := w.step(live, step, parameters)
		parameters += len(w.DataMap.SubjectTable().SubjectKey) + len(constants)
		if step.Strategy != domain.StrategyRetain {
			body += " RETURNING 1"
		}
		group.parts = append(group.parts, stepPart{i, constants})
		bodies = append(bodies, CteName(i)+" AS ("+body+")")
		selects[i] = cteCount(i)
		if hasStarts(step) {
			group.Dated = append(group.Dated, i)
			starts = append(starts, w.readStarts(live, i, step))
		}
	}
	group.Text = "WITH " + strings.Join(bodies, ", ") + " SELECT " + strings.Join(append(selects, starts...), ", ")
	return group
}

// CteName returns the name of the common table expression of a step.
func CteName(step int) string { return "s" + strconv.Itoa(step) }

func cteCount(step int) string { return "(SELECT count(*) FROM " + CteName(step) + ")" }

// Step returns the statement that executes one step for one subject. The parameter key is the subject's key.
func (w *Writer) Step(live Live, step datamap.Step, key []any) (text string, args []any) {
	text, constants := w.step(live, step, 0)
	return text, slices.Concat(key, ResolveConstants(constants, step.At))
}

const (
	deleteRows    = `DELETE FROM {target} WHERE {rows}`
	overwriteRows = `UPDATE{or abort} {target} SET {assignments} WHERE {rows}{concerned}`
	// SelectRows selects the rows that a step covers.
	SelectRows = `SELECT {columns} FROM {target} WHERE {rows}{concerned}`
)

// step returns the statement that executes one step. The placeholders of the subject's key start at $(offset+1), and
// the placeholders of the constants follow. Callers pass the constants to ResolveConstants.
func (w *Writer) step(live Live, step datamap.Step, offset int) (text string, constants []any) {
	table, _ := w.DataMap.Table(step.Target)
	sw := w.StepWriter(table, live.Types(table.Name), offset+len(w.DataMap.SubjectTable().SubjectKey))
	target, name := w.own.changedTable(table.Name)
	sw.alias = name
	rows := w.RowsOfStep(name, table, step, offset)
	switch step.Strategy { //nolint:exhaustive // steps have no other strategies
	case domain.StrategyDelete:
		text = syntax.Fill(deleteRows, "target", target, "rows", rows)
	case domain.StrategyAnonymize:
		text = syntax.Fill(overwriteRows, "or abort", w.orAbort(live, table),
			"target", target, "assignments", sw.assignments(step), "rows", rows, "concerned", sw.CoveredRows(step))
	case domain.StrategyRetain:
		text = syntax.Fill(SelectRows, "columns", w.startsOf(step, name), "target", target, "rows", rows,
			"concerned", sw.CoveredRows(step))
	}
	return text, sw.Constants
}

// orAbort returns the conflict clause of an UPDATE. It makes the database refuse a row where a constraint of SQLite
// says that it ignores or replaces the row, also in the statements of triggers. If a trigger states such a clause
// itself, it stays in force, and callers count the changed rows.
func (w *Writer) orAbort(live Live, table datamap.Table) string {
	if live.StatesConflicts(table.Name) {
		return ""
	}
	return w.own.orAbort()
}

// RowsOfStep returns the condition for the rows that a step of an erasure affects. The parameter alias is the alias of
// the table. The placeholders of the subject's key start at $(offset+1).
func (w *Writer) RowsOfStep(alias string, table datamap.Table, step datamap.Step, offset int) string {
	if reference, ok := w.DataMap.SelfReference(step); ok {
		return w.rowsReferringToDeleted(alias, table, reference, offset)
	}
	path, _ := w.DataMap.PathVia(step.Target, step.Via)
	return w.pathCondition(alias, 0, table, path.Relations, offset)
}

// rowsReferringToDeleted returns the condition for the rows that refer to rows of the same table that an erasure
// deletes.
func (w *Writer) rowsReferringToDeleted(
	alias string, table datamap.Table, reference datamap.SelfReference, offset int,
) string {
	conditions := make([]string, len(reference.Paths))
	for i, path := range reference.Paths {
		toDeleted := append([]datamap.Relation{reference.Relation}, path.Relations...)
		conditions[i] = "(" + w.pathCondition(alias, 0, table, toDeleted, offset) + ")"
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// timeFormat is the format in which bun writes instants. Time columns and text columns of both databases accept it.
const timeFormat = "2006-01-02 15:04:05.999999-07:00"

// Correct returns the statement that writes values into the rows from which a path leads to the subject. The parameter
// key is the subject's key. If row is not nil, the statement changes only the row with this primary key.
func (w *Writer) Correct(
	live Live, table datamap.Table, path datamap.Path, row []string, values []domain.ColumnValue, key []any,
) (text string, args []any) {
	args = slices.Clone(key)
	add := func(value any) string {
		args = append(args, value)
		return syntax.Placeholder(len(args))
	}
	assignments := make([]string, len(values))
	for i, value := range values {
		assignments[i] = syntax.Quote(value.Column) + " = " + add(w.Parameter(value.Value))
	}
	target, name := w.own.changedTable(table.Name)
	concerned := ""
	if row != nil {
		concerned = " AND " + w.HasPrimaryKey(name, table, row, add)
	}
	return syntax.Fill(overwriteRows, "or abort", w.orAbort(live, table), "target", target,
		"assignments", strings.Join(assignments, ", "),
		"rows", w.pathCondition(name, 0, table, path.Relations, 0), "concerned", concerned), args
}

// Parameter converts the value of a domain.ColumnValue to a parameter of a statement.
func (w *Writer) Parameter(value any) any {
	switch value := value.(type) {
	case time.Time:
		return value.UTC().Format(timeFormat)
	case domain.Number:
		return string(value)
	case domain.JSON:
		return string(value)
	default:
		return w.own.parameterValue(value)
	}
}
