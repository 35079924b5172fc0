package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Live provides the types that columns have in the database. The keys of Types are the names of the columns.
type Live interface {
	Types(table string) map[string]string
}

// StepGroup is a statement that executes several steps of an erasure. It returns the number of affected rows for each
// step.
type StepGroup struct {
	Steps []datamap.Step
	Text  string
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
		args = append(append(args, key...), resolveConstants(part.constants, steps[part.step].At)...)
	}
	return append(args, more...)
}

// HaveSameText reports whether the statement that executes step a can also execute step b. Only the instants of the two
// steps (datamap.Step.At) may differ, because an instant is a parameter of the statement. HaveSameText returns false if
// a step has a Scope (the limits of a sweep), because a Scope contains further instants.
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
			return other.Target == step.Target && (other.Via != step.Via || other.Self || step.OnlyClearsColumns())
		}) {
			return i
		}
	}
	return len(steps)
}

// Group returns the statement that executes all steps.
func (w *Writer) Group(live Live, steps []datamap.Step) *StepGroup {
	group := &StepGroup{}
	var bodies []string
	selects, parameters := make([]string, len(steps)), 0
	for i, step := range steps {
		step.Columns, step.Expired = slices.Clone(step.Columns), slices.Clone(step.Expired)
		step.ClearedColumns = slices.Clone(step.ClearedColumns)
		group.Steps = append(group.Steps, step)
		same := slices.IndexFunc(steps, func(other datamap.Step) bool {
			return other.Target == step.Target && other.Via == step.Via && !other.Self &&
				other.Strategy == domain.StrategyAnonymize && !other.OnlyExpired()
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
		bodies = append(bodies, cteName(i)+" AS ("+body+")")
		selects[i] = cteCount(i)
	}
	group.Text = "WITH " + strings.Join(bodies, ", ") + " SELECT " + strings.Join(selects, ", ")
	return group
}

// prefetchColumns reads the values of a Prefetched (values that an erasure needs after its steps) in additional columns
// of a statement. Instants have a fixed format, so that the settings of the session have no effect.
const prefetchColumns = `,
		EXISTS (SELECT FROM {outbox} WHERE ` + unsentCorrections + `),
		(SELECT json_agg(json_build_array(purpose, policy_version, granted, source,
			to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
		FROM (` + consentsInForce + `) AS in_force)`

// AddPrefetch adds the columns of a Prefetched (values that an erasure needs after its steps) to the statement of a
// group. The subject's id becomes the last parameter.
func (w *Writer) AddPrefetch(g *StepGroup) {
	subject := placeholder(len(g.Args(g.Steps, make([]any, len(w.DataMap.SubjectTable().SubjectKey)))) + 1)
	g.Text += w.Tables.fill(prefetchColumns, "subject", subject, "until", "0") // the erasure withdraws all consents
}

func cteName(step int) string { return "s" + strconv.Itoa(step) }

func cteCount(step int) string { return "(SELECT count(*) FROM " + cteName(step) + ")" }

// Step returns the statement that executes one step for one subject. The parameter key is the subject's key.
func (w *Writer) Step(live Live, step datamap.Step, key []any) (text string, args []any) {
	text, constants := w.step(live, step, 0)
	return text, slices.Concat(key, resolveConstants(constants, step.At))
}

const (
	deleteRows    = `DELETE FROM {target} WHERE {rows}`
	overwriteRows = `UPDATE {target} SET {assignments} WHERE {rows}{concerned}`
	selectRows    = `SELECT 1 FROM {target} WHERE {rows}{concerned}`
)

// step returns the statement that executes one step. The placeholders of the subject's key start at $(offset+1), and
// the placeholders of the constants follow. Callers pass the constants to resolveConstants.
func (w *Writer) step(live Live, step datamap.Step, offset int) (text string, constants []any) {
	table, _ := w.DataMap.Table(step.Target)
	sw := w.stepWriter(table, live.Types(table.Name), offset+len(w.DataMap.SubjectTable().SubjectKey))
	target, name := w.Dialect.changedTable(table.Name)
	sw.alias = name
	rows := w.rowsOfStep(name, table, step, offset)
	switch step.Strategy { //nolint:exhaustive // steps have no other strategies
	case domain.StrategyDelete:
		text = fill(deleteRows, "target", target, "rows", rows)
	case domain.StrategyAnonymize:
		text = fill(overwriteRows,
			"target", target, "assignments", sw.assignments(step), "rows", rows, "concerned", sw.coveredRows(step))
	case domain.StrategyRetain:
		text = fill(selectRows, "target", target, "rows", rows, "concerned", sw.coveredRows(step))
	}
	return text, sw.constants
}

// stepWriter builds the parts of a step's statement that contain constants. It passes the constants as parameters,
// because the driver and bun would interpret quotes and question marks in the text of a statement.
type stepWriter struct {
	writer    *Writer
	table     datamap.Table
	alias     string            // the alias of the table
	types     map[string]string // the types of the columns in the database
	offset    int               // the number of parameters before the constants
	constants []any
}

func (w *Writer) stepWriter(table datamap.Table, types map[string]string, offset int) *stepWriter {
	return &stepWriter{writer: w, table: table, alias: "t0", types: types, offset: offset}
}

// dutyCutoff is a constant that resolveConstants replaces by an instant. If a retention duty started at this instant or
// earlier, it has ended at the instant of the step. The value of a dutyCutoff is the period of the duty.
type dutyCutoff datamap.Period

// resolveConstants returns the constants as parameters. It replaces each dutyCutoff by an instant. The parameter
// stepTime is the instant of the step.
func resolveConstants(constants []any, stepTime time.Time) []any {
	values := slices.Clone(constants)
	for i, constant := range constants {
		if period, ok := constant.(dutyCutoff); ok {
			values[i] = datamap.Period(period).Cutoff(stepTime).UTC().Format(timeFormat)
		}
	}
	return values
}

func (w *stepWriter) addConstant(value any) string {
	w.constants = append(w.constants, value)
	return placeholder(w.offset + len(w.constants))
}

// assignments returns the SET list of the step's UPDATE. The list anonymizes step.Columns and sets step.ClearedColumns
// to NULL. It overwrites a cell of step.Expired only if the condition of isOverwritten is true, and otherwise keeps its
// value.
func (w *stepWriter) assignments(step datamap.Step) string {
	var all []string
	for _, name := range step.Columns {
		all = append(all, Quote(name)+" = "+w.surrogate(name))
	}
	for _, name := range step.ClearedColumns {
		all = append(all, Quote(name)+" = NULL")
	}
	for _, name := range step.Expired {
		all = append(all, fill(`{column} = CASE WHEN {expired} THEN {surrogate} ELSE {column} END`,
			"column", Quote(name), "expired", w.isOverwritten(name, step), "surrogate", w.surrogate(name)))
	}
	return strings.Join(all, ", ")
}

// surrogate returns the expression for the value that overwrites a column: NULL or a constant if the data map says so,
// and otherwise the result of Dialect.surrogate.
func (w *stepWriter) surrogate(name string) string {
	column, _ := w.table.Column(name)
	constant, ok := column.Constant()
	switch digits := column.Digits(); {
	case IsNulled(column):
		return "NULL"
	case digits > 0:
		return fillPlaceholder(w.addConstant(constant), w.writer.Dialect.randomDigits(), digits)
	case ok:
		return w.addConstant(constant)
	default:
		return w.writer.Dialect.surrogate(column)
	}
}

// dutiesEnded returns the condition that all retention duties of a cell have ended at the given instant. The condition
// is FALSE if this instant is zero.
func (w *stepWriter) dutiesEnded(column string, at time.Time) string {
	if at.IsZero() {
		return "FALSE"
	}
	return w.dutiesStartedBy(column, func(period datamap.Period) any { return dutyCutoff(period) })
}

// dutiesStartedBy returns the condition that all retention duties of a cell started at or before an instant.
// latestStart returns this instant for the period of a duty.
func (w *stepWriter) dutiesStartedBy(column string, latestStart func(datamap.Period) any) string {
	var started []string
	for _, duty := range w.table.Duties(column) {
		since, parameter := duty.Personal.Since, w.addConstant(latestStart(duty.Personal.Retain))
		started = append(started, w.writer.Dialect.isNotAfter(w.alias+"."+Quote(since), parameter, w.types[since]))
	}
	return strings.Join(started, " AND ")
}

// coveredRows returns the condition, with a leading AND, for the rows that a step covers. It returns "" if the step
// covers all rows of the subject. Two kinds of steps have a condition:
//
//   - An anonymize step whose columns are all in step.Expired: AND (<a is overwritten> OR <b is overwritten>)
//   - A retain step whose columns are all in step.Expired: AND NOT (<a is overwritten> AND <b is overwritten>)
func (w *stepWriter) coveredRows(step datamap.Step) string {
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
		expired[i] = "COALESCE(" + w.isOverwritten(name, step) + ", FALSE)"
	}
	return " AND " + not + "(" + strings.Join(expired, operator) + ")"
}
