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

// StepWriter builds the parts of a step's statement that contain constants. It passes the constants as parameters,
// because the driver and bun would interpret quotes and question marks in the text of a statement.
type StepWriter struct {
	writer    *Writer
	table     datamap.Table
	alias     string            // the alias of the table
	Types     map[string]string // the types of the columns in the database
	offset    int               // the number of parameters before the constants
	Constants []any
}

// StepWriter returns a StepWriter for a table. The parameter types has the types of its columns in the database. The
// statement has offset parameters before the constants.
func (w *Writer) StepWriter(table datamap.Table, types map[string]string, offset int) *StepWriter {
	return &StepWriter{writer: w, table: table, alias: "t0", Types: types, offset: offset}
}

// latestStart is a constant that ResolveConstants replaces by the latest start of a duty that has ended.
type latestStart struct {
	duty  datamap.Duty
	at    time.Time // zero: the instant of the step
	local bool      // for a start without a zone
}

// The forms of the texts of dialect.dutyStart.
const (
	localStart   = "2006-01-02T15:04:05.000000"
	instantStart = localStart + "Z"
)

func (l latestStart) text(stepTime time.Time) string {
	at := l.at
	if at.IsZero() {
		at = stepTime
	}
	instant, local := l.duty.LatestStart(at)
	if l.local {
		return local.Format(localStart)
	}
	return instant.Format(instantStart)
}

// ResolveConstants returns the constants as parameters. It replaces each latestStart by a text. The parameter stepTime
// is the instant of the step.
func ResolveConstants(constants []any, stepTime time.Time) []any {
	values := slices.Clone(constants)
	for i, constant := range constants {
		if latest, ok := constant.(latestStart); ok {
			values[i] = latest.text(stepTime)
		}
	}
	return values
}

// AddConstant adds a constant and returns its placeholder.
func (w *StepWriter) AddConstant(value any) string {
	w.Constants = append(w.Constants, value)
	return syntax.Placeholder(w.offset + len(w.Constants))
}

// addStart adds a constant, unless it has been added before, and returns its placeholder. Columns with the same duties
// then have the same condition.
func (w *StepWriter) addStart(start latestStart) string {
	if i := slices.Index(w.Constants, any(start)); i >= 0 {
		return syntax.Placeholder(w.offset + i + 1)
	}
	return w.AddConstant(start)
}

// assignments returns the SET list of the step's UPDATE. The list anonymizes step.Columns and sets step.ClearedColumns
// to NULL. It overwrites a cell of step.Expired only if the condition of IsOverwritten is true, and otherwise keeps its
// value. A cell that is NULL stays NULL, unless the column has Always.
func (w *StepWriter) assignments(step datamap.Step) string {
	var all []string
	for _, name := range step.Columns {
		all = append(all, syntax.Quote(name)+" = "+w.unlessNull(name))
	}
	for _, name := range step.ClearedColumns {
		all = append(all, syntax.Quote(name)+" = NULL")
	}
	for _, name := range step.Expired {
		all = append(all, syntax.Fill(
			`{column} = CASE WHEN {column} IS NOT NULL AND {expired} THEN {surrogate} ELSE {column} END`,
			"column", syntax.Quote(name), "expired", w.IsOverwritten(name, step), "surrogate", w.Surrogate(name)))
	}
	return strings.Join(all, ", ")
}

// unlessNull returns the expression for the surrogate of a column, or for NULL if the cell is NULL. A parameter and a
// literal get the type of the column from the other result of the CASE. Every other surrogate has a type of its own,
// which the assignment converts to that of the column.
func (w *StepWriter) unlessNull(name string) string {
	column, _ := w.table.Column(name)
	surrogate, null := w.Surrogate(name), "NULL"
	switch isLiteral := strings.HasPrefix(surrogate, "'") && strings.Count(surrogate, "'") == len("''"); {
	case column.IsNulled() || column.Always:
		return surrogate
	case isLiteral || strings.HasPrefix(surrogate, "$"):
		null = syntax.Quote(name)
	}
	return "CASE WHEN " + syntax.Quote(name) + " IS NULL THEN " + null + " ELSE " + surrogate + " END"
}

// Blank returns the columns of the subject's table that can hold a distinctive surrogate, and the condition that they
// are all NULL in the row of the subject with the key. It returns no columns if an erasure always writes into one of
// them. The alias of the table is t0.
func (w *Writer) Blank() (columns []string, condition string) {
	table := w.DataMap.SubjectTable()
	conditions := []string{w.RowsOf(table, datamap.Path{}, 0)}
	for _, column := range plan.Identifying(table) {
		if column.Always {
			return nil, "FALSE"
		}
		columns = append(columns, column.Name)
		conditions = append(conditions, "t0."+syntax.Quote(column.Name)+" IS NULL")
	}
	return columns, syntax.Combine(conditions, "AND")
}

// Distinguish returns the statement that writes the surrogate of a column into the row of the subject with the key.
func (w *Writer) Distinguish(live Live, column string, key []any) (text string, args []any) {
	table := w.DataMap.SubjectTable()
	sw := w.StepWriter(table, live.Types(table.Name), len(key))
	target, name := w.own.changedTable(table.Name)
	text = syntax.Fill(overwriteRows, "or abort", w.orAbort(live, table), "target", target,
		"assignments", syntax.Quote(column)+" = "+sw.Surrogate(column),
		"rows", w.pathCondition(name, 0, table, nil, 0), "concerned", "")
	return text, append(slices.Clone(key), sw.Constants...)
}

// dutiesEnded returns the condition that all retention duties of a cell have ended at the given instant. The condition
// is FALSE if this instant is zero.
func (w *StepWriter) dutiesEnded(column string, at time.Time) string {
	if at.IsZero() {
		return "FALSE"
	}
	return w.dutiesEndedBy(column, time.Time{})
}

// hasEnded is the condition that a duty with the given start has ended. It compares texts of dutyStart.
const hasEnded = `
	(SELECT s.start <= CASE length(s.start) WHEN {instant length} THEN {instant} ELSE {local} END
		FROM (SELECT {start} AS start LIMIT 1) AS s)`

// dutiesEndedBy returns the condition that all retention duties of a cell have ended at the given instant. If this
// instant is zero, it is the instant of the step.
func (w *StepWriter) dutiesEndedBy(column string, at time.Time) string {
	var ended []string
	for _, of := range plan.Duties(w.table, column) {
		duty := w.writer.DataMap.Duty(*of.Personal)
		ended = append(ended, syntax.Fill(hasEnded, "instant length", strconv.Itoa(len(instantStart)),
			"instant", w.writer.own.exactText(w.addStart(latestStart{duty, at, false})),
			"local", w.writer.own.exactText(w.addStart(latestStart{duty, at, true})),
			"start", w.writer.own.dutyStart(w.alias+"."+syntax.Quote(of.Personal.Since), w.Types[of.Personal.Since])))
	}
	return strings.Join(ended, " AND ")
}

// CoveredRows returns the condition, with a leading AND, for the rows that a step covers. It returns "" if the step
// covers all rows of the subject. Two kinds of steps have a condition:
//
//   - An anonymize step whose columns are all in step.Expired: AND (<a is overwritten> OR <b is overwritten>)
//   - A retain step whose columns are all in step.Expired: AND NOT (<a is overwritten> AND <b is overwritten>)
func (w *StepWriter) CoveredRows(step datamap.Step) string {
	var not, operator string
	switch {
	case len(step.Expired) == 0:
		return ""
	case plan.OnlyExpired(step):
		operator = "OR"
	case step.Strategy == domain.StrategyRetain && len(step.Expired) == len(step.Columns):
		not, operator = "NOT ", "AND"
	default:
		return ""
	}
	var expired []string
	for _, name := range step.Expired {
		if condition := "COALESCE(" + w.IsOverwritten(name, step) + ", FALSE)"; !slices.Contains(expired, condition) {
			expired = append(expired, condition)
		}
	}
	return " AND " + not + syntax.Combine(expired, operator)
}

// IsOverwritten returns the condition that a step overwrites a retained cell: all retention duties of the cell have
// ended. In a sweep (step.Scope is set), the condition excludes cells that were overwritten before, and cells in rows
// that Scope.OnlyErasedRows excludes.
func (w *StepWriter) IsOverwritten(column string, step datamap.Step) string {
	expired := w.dutiesEnded(column, step.At)
	if step.Scope == nil || step.At.IsZero() {
		return expired
	}
	described, _ := w.table.Column(column)
	cell := w.alias + "." + syntax.Quote(column)
	conditions := []string{expired, cell + " IS NOT NULL"}
	fixed, digits := plan.SurrogateForm(described)
	switch {
	case !plan.RecognizesSurrogate(described) && step.Scope.DutyEndsAfter.IsZero():
	case !plan.RecognizesSurrogate(described):
		conditions = append(conditions, "NOT ("+w.dutiesEndedBy(column, step.Scope.DutyEndsAfter)+")")
	case digits > 0:
		conditions = append(conditions,
			"NOT "+w.writer.own.matchesForm("CAST("+cell+" AS text)", fixed, digits, w.AddConstant))
	default:
		conditions = append(conditions,
			"NOT ("+w.writer.own.equalsConstant(cell, w.Surrogate(column), w.Types[column])+")")
	}
	if step.Scope.OnlyErasedRows {
		conditions = append(conditions, w.isErasedRow(step.Via))
	}
	return "(" + strings.Join(conditions, " AND ") + ")"
}

// isErasedRow returns the condition that the row holds a distinctive surrogate in a column of the path.
func (w *StepWriter) isErasedRow(via string) string {
	path, _ := w.writer.DataMap.PathVia(w.table.Name, via)
	held := []string{"FALSE"}
	for _, column := range plan.IdentifyingOn(path, w.table) {
		fixed, digits := plan.SurrogateForm(column)
		text := "CAST(" + w.alias + "." + syntax.Quote(column.Name) + " AS text)"
		held = append(held, "COALESCE("+w.writer.own.matchesForm(text, fixed, digits, w.AddConstant)+", FALSE)")
	}
	return syntax.Combine(held, "OR")
}

// AddedUntil returns a copy of w whose statements skip the rows that were added later than the given instant. The
// column plan.AddedAt holds the instant at which a row was added. The statements include rows without a readable
// instant in this column, rows that may be older than a time without a zone says, and the subject's own row, which is
// judged by its life (see domain.Life). If the given instant is zero, they include all rows. AddedUntil appends the
// parameters of the new condition to sw.
func (w *Writer) AddedUntil(sw *StepWriter, at time.Time) *Writer {
	if at.IsZero() {
		return w
	}
	before := *w
	before.extraCondition = func(table datamap.Table, alias string) string {
		column, ok := plan.AddedAt(table)
		if !ok || table.Name == w.DataMap.SubjectTable().Name {
			return ""
		}
		return " AND " + syntax.Fill("NOT COALESCE({added} > CAST({until} AS {type}), FALSE)",
			"added", w.own.earliestAdded(alias+"."+syntax.Quote(column.Name)),
			"until", sw.AddConstant(w.Dialect.Instant(at)), "type", w.Dialect.InstantType())
	}
	return &before
}
