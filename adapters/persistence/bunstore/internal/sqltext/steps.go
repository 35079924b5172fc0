package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Live provides the types of columns in the database.
type Live interface {
	Types(table string) map[string]string
}

// StepGroup is a statement that executes several steps, and returns the number of affected rows for each step.
type StepGroup struct {
	Steps []domain.Step
	Text  string
	parts []stepPart
}

// stepPart is a common table expression of a StepGroup. Its parameters are the subject's key, followed by the
// constants.
type stepPart struct {
	step      int
	constants []any
}

// Args returns the parameters of the statement for a subject, followed by more. The steps may differ from the steps of
// the group in their instants.
func (g *StepGroup) Args(steps []domain.Step, key []any, more ...any) []any {
	var args []any
	for _, part := range g.parts {
		args = append(append(args, key...), constantsAt(part.constants, steps[part.step].At)...)
	}
	return append(args, more...)
}

// SameText reports whether two steps have the same text. Their instants are parameters, except the instants of
// domain.Step.Scope.
func SameText(a, b domain.Step) bool {
	return a.Target == b.Target && a.Via == b.Via && a.Strategy == b.Strategy && a.External == b.External &&
		slices.Equal(a.Columns, b.Columns) && slices.Equal(a.Clears, b.Clears) &&
		slices.Equal(a.Expired, b.Expired) && a.At.IsZero() == b.At.IsZero() && a.Scope == nil && b.Scope == nil
}

// Combinable returns the number of leading steps that one statement can execute. A statement must not combine two paths
// of one table. It could reach a row twice, and only one of the two changes would take effect.
func Combinable(steps []domain.Step) int {
	for i, step := range steps {
		if slices.ContainsFunc(steps[:i], func(other domain.Step) bool {
			return other.Target == step.Target && (other.Via != step.Via || step.OnlyClears())
		}) {
			return i
		}
	}
	return len(steps)
}

// Group returns the statement that executes the steps.
func (w *Writer) Group(live Live, steps []domain.Step) *StepGroup {
	group := &StepGroup{}
	var bodies []string
	selects, parameters := make([]string, len(steps)), 0
	for i, step := range steps {
		step.Columns, step.Expired = slices.Clone(step.Columns), slices.Clone(step.Expired)
		step.Clears = slices.Clone(step.Clears)
		group.Steps = append(group.Steps, step)
		same := slices.IndexFunc(steps, func(other domain.Step) bool {
			return other.Target == step.Target && other.Via == step.Via && other.Strategy == domain.StrategyAnonymize &&
				!other.OnlyExpired()
		})
		if step.Strategy == domain.StrategyRetain && len(step.Expired) == 0 && same >= 0 { // the other step counts all rows
			selects[i] = countOf(same)
			continue
		}
		body, constants := w.step(live, step, parameters)
		parameters += len(w.DataMap.SubjectTable().SubjectKey) + len(constants)
		if step.Strategy != domain.StrategyRetain {
			body += " RETURNING 1"
		}
		group.parts = append(group.parts, stepPart{i, constants})
		bodies = append(bodies, nameOf(i)+" AS ("+body+")")
		selects[i] = countOf(i)
	}
	group.Text = "WITH " + strings.Join(bodies, ", ") + " SELECT " + strings.Join(selects, ", ")
	return group
}

// readAhead is the list of expressions of ReadAhead. Its instants have a fixed form, independent of the settings of the
// session.
const readAhead = `,
		EXISTS (SELECT FROM {outbox} WHERE ` + toWithdraw + `),
		(SELECT json_agg(json_build_array(purpose, policy_version, granted, source,
			to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
		FROM (` + consentsInForce + `) AS in_force)`

// ReadAhead adds the values of an Ahead to the statement of a group. The last parameter of the statement is the
// subject.
func (w *Writer) ReadAhead(g *StepGroup) {
	subject := parameter(len(g.Args(g.Steps, make([]any, len(w.DataMap.SubjectTable().SubjectKey)))) + 1)
	g.Text += w.Tables.in(readAhead, "subject", subject)
}

func nameOf(step int) string { return "s" + strconv.Itoa(step) }

func countOf(step int) string { return "(SELECT count(*) FROM " + nameOf(step) + ")" }

// Step returns the statement of one step for the subject with a key.
func (w *Writer) Step(live Live, step domain.Step, key []any) (text string, args []any) {
	text, constants := w.step(live, step, 0)
	return text, slices.Concat(key, constantsAt(constants, step.At))
}

const (
	deleteRows    = `DELETE FROM {target} WHERE {rows}`
	overwriteRows = `UPDATE {target} SET {assignments} WHERE {rows}{concerned}`
	selectRows    = `SELECT 1 FROM {target} WHERE {rows}{concerned}`
)

// step returns the statement of one step. Its parameters are numbered after the given number of other parameters. They
// are the subject's key, followed by the constants, see constantsAt.
func (w *Writer) step(live Live, step domain.Step, others int) (text string, constants []any) {
	table, _ := w.DataMap.Table(step.Target)
	sw := w.stepWriter(table, live.Types(table.Name), others+len(w.DataMap.SubjectTable().SubjectKey))
	path, _ := w.DataMap.PathVia(step.Target, step.Via)
	target, name := w.Dialect.written(table.Name)
	sw.name = name
	rows := w.condition(name, 0, table, path.Relations, others)
	switch step.Strategy { //nolint:exhaustive // steps have no other strategies
	case domain.StrategyDelete:
		text = fill(deleteRows, "target", target, "rows", rows)
	case domain.StrategyAnonymize:
		text = fill(overwriteRows,
			"target", target, "assignments", sw.assignments(step), "rows", rows, "concerned", sw.concerned(step))
	case domain.StrategyRetain:
		text = fill(selectRows, "target", target, "rows", rows, "concerned", sw.concerned(step))
	}
	return text, sw.constants
}

// stepWriter writes the parts of a step's statement that have parameters. Constants are parameters, because the driver
// and bun would interpret quotes and question marks in the text of a statement.
type stepWriter struct {
	writer    *Writer
	table     domain.Table
	name      string            // the alias of the table in the statement
	types     map[string]string // the types of the columns in the database
	others    int               // the number of preceding parameters
	constants []any
}

// stepWriter returns a writer for a statement in which others is the number of parameters before the constants.
func (w *Writer) stepWriter(table domain.Table, types map[string]string, others int) *stepWriter {
	return &stepWriter{writer: w, table: table, name: "t0", types: types, others: others}
}

// cutoff is a constant that depends on the instant at which a step judges duties. It is the latest start of a duty with
// the period that has ended by that instant.
type cutoff domain.Period

// constantsAt returns the constants as parameters of a step that judges duties at an instant.
func constantsAt(constants []any, at time.Time) []any {
	values := slices.Clone(constants)
	for i, constant := range constants {
		if period, ok := constant.(cutoff); ok {
			values[i] = domain.Period(period).Cutoff(at).UTC().Format(timeFormat)
		}
	}
	return values
}

// constant appends a parameter and returns its placeholder.
func (w *stepWriter) constant(value any) string {
	w.constants = append(w.constants, value)
	return parameter(w.others + len(w.constants))
}

// assignments returns the SET list of the UPDATE of a step. The list anonymizes Columns, sets Clears to NULL, and
// overwrites the cells of Expired whose retention duty has ended. The other cells of Expired keep their values.
func (w *stepWriter) assignments(step domain.Step) string {
	var all []string
	for _, name := range step.Columns {
		all = append(all, Quote(name)+" = "+w.surrogate(name))
	}
	for _, name := range step.Clears {
		all = append(all, Quote(name)+" = NULL")
	}
	for _, name := range step.Expired {
		all = append(all, fill(`{column} = CASE WHEN {expired} THEN {surrogate} ELSE {column} END`,
			"column", Quote(name), "expired", w.goes(name, step), "surrogate", w.surrogate(name)))
	}
	return strings.Join(all, ", ")
}

// surrogate returns the expression that overwrites a column. The expression is NULL or a constant if the data map says
// so.
func (w *stepWriter) surrogate(name string) string {
	column, _ := w.table.Column(name)
	constant, ok := column.Constant()
	switch digits := column.Digits(); {
	case IsNulled(column):
		return "NULL"
	case digits > 0:
		return filled(w.constant(constant), w.writer.Dialect.digits(), digits)
	case ok:
		return w.constant(constant)
	default:
		return w.writer.Dialect.surrogate(column)
	}
}

// expired returns the condition that all retention duties of a cell of a column have ended.
func (w *stepWriter) expired(name string, at time.Time) string {
	if at.IsZero() {
		return "FALSE"
	}
	return w.begunBy(name, func(period domain.Period) any { return cutoff(period) })
}

// begunBy returns the condition that each retention duty of a cell of a column began at or before an instant. The
// function start returns this instant for the period of the duty.
func (w *stepWriter) begunBy(name string, start func(domain.Period) any) string {
	var begun []string
	for _, duty := range w.table.Duties(name) {
		since, parameter := duty.Personal.Since, w.constant(start(duty.Personal.Retain))
		begun = append(begun, w.writer.Dialect.expired(w.name+"."+Quote(since), parameter, w.types[since]))
	}
	return strings.Join(begun, " AND ")
}

// concerned returns the condition, with a leading AND, for the rows that a step covers. A step covers all rows of the
// subject, with two exceptions. An anonymize step of expired cells only covers rows with an expired duty. A retain step
// does not cover rows in which all duties have ended.
func (w *stepWriter) concerned(step domain.Step) string {
	var not, operator string
	switch {
	case len(step.Expired) == 0:
		return ""
	case step.OnlyExpired():
		operator = " OR "
	case step.Strategy == domain.StrategyRetain && len(step.Expired) == len(step.Columns):
		not, operator = "NOT ", " AND "
	default:
		return ""
	}
	expired := make([]string, len(step.Expired))
	for i, name := range step.Expired {
		expired[i] = "COALESCE(" + w.goes(name, step) + ", FALSE)"
	}
	return " AND " + not + "(" + strings.Join(expired, operator) + ")"
}
