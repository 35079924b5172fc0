package sqltext

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Sweeps holds the statements that lock a subject for a sweep (the later erasure of retained cells). The mark of a
// subject is the row that records its erasures.
type Sweeps struct {
	Fingerprint string // reads the fingerprint of the live catalog
	LockMark    string // locks the mark of the subject $1; returns the MarkColumns
	LockRow     string // locks the subject's row; returns the fingerprint and the evidence about the row, see Lives
	RecordSweep string // records a sweep of the subject $1 at the instant $2
}

const (
	lockErasedMark = `SELECT ` + MarkColumns + ` FROM {erasures} WHERE subject_id = $1 AND erasures > 0{lock}`
	recordSweep    = `UPDATE {erasures} SET swept_at = $2 WHERE subject_id = $1`
	lockTexts      = `SELECT {texts} FROM {table} AS t0 WHERE {rows}{lock}`
)

// NewSweeps returns the Sweeps for the dialect and the tables of w.
func NewSweeps(w *Writer) Sweeps {
	subject, lock := w.DataMap.SubjectTable(), w.Dialect.forUpdate()
	texts := append([]string{w.Dialect.fingerprint(w.Touched, w.Tables)}, w.lifeOfRow()...)
	if lock != "" {
		lock += " OF t0"
	}
	return Sweeps{
		Fingerprint: "SELECT " + texts[0],
		LockMark:    w.Tables.fill(lockErasedMark, "lock", w.Dialect.forUpdate()),
		LockRow: fill(lockTexts, "texts", strings.Join(texts, ", "), "table", quoteTable(subject.Name),
			"rows", w.rowsOf(subject, datamap.Path{}, 0), "lock", lock),
		RecordSweep: w.Tables.fill(recordSweep),
	}
}

// DueSubjects returns the statement that finds the subjects with cells that one of the steps overwrites:
//
//	SELECT 0 WHERE EXISTS (...) OR EXISTS (...) UNION ALL SELECT 1 WHERE ...
//
// The numbers are indexes in keys and scopes, which have one element for each subject. A scope restricts the cells that
// the statement considers.
func (w *Writer) DueSubjects(
	live Live, steps []datamap.Step, keys [][]any, scopes []*domain.SweepScope,
) (text string, args []any) {
	selects := make([]string, len(keys))
	for i, key := range keys {
		found := make([]string, len(steps))
		for j, step := range steps {
			step.Scope = scopes[i]
			table, _ := w.DataMap.Table(step.Target)
			path, _ := w.DataMap.PathVia(step.Target, step.Via)
			sw := w.stepWriter(table, live.Types(table.Name), len(args)+len(key))
			found[j] = "EXISTS (" + fill(selectRows, "target", quoteTable(table.Name)+" AS t0",
				"rows", w.rowsOf(table, path, len(args)), "concerned", sw.coveredRows(step)) + ")"
			args = slices.Concat(args, key, resolveConstants(sw.constants, step.At))
		}
		selects[i] = "SELECT " + strconv.Itoa(i) + " WHERE " + strings.Join(found, " OR ")
	}
	return strings.Join(selects, " UNION ALL "), args
}

// isOverwritten returns the condition that a step overwrites a retained cell: all retention duties of the cell have
// ended. In a sweep (step.Scope is set), the condition excludes cells that were overwritten before, and cells in rows
// that Scope.OnlyErasedRows excludes.
func (w *stepWriter) isOverwritten(column string, step datamap.Step) string {
	expired := w.dutiesEnded(column, step.At)
	if step.Scope == nil || step.At.IsZero() {
		return expired
	}
	described, _ := w.table.Column(column)
	cell := w.alias + "." + Quote(column)
	conditions := []string{expired, cell + " IS NOT NULL"}
	fixed, digits := described.SurrogateForm()
	switch {
	case !described.RecognizesSurrogate() && step.Scope.DutyEndsAfter.IsZero():
	case !described.RecognizesSurrogate():
		overwritten := w.dutiesStartedBy(column, func(period datamap.Period) any {
			return formatInstant(period.Cutoff(step.Scope.DutyEndsAfter))
		})
		conditions = append(conditions, "NOT ("+overwritten+")")
	case digits > 0:
		conditions = append(conditions,
			"NOT "+w.writer.Dialect.matchesForm("CAST("+cell+" AS text)", fixed, digits, w.addConstant))
	default:
		conditions = append(conditions,
			"NOT ("+w.writer.Dialect.equalsConstant(cell, w.surrogate(column), w.types[column])+")")
	}
	if step.Scope.OnlyErasedRows {
		conditions = append(conditions, w.isErasedRow(step.Via))
	}
	return "(" + strings.Join(conditions, " AND ") + ")"
}

// isErasedRow returns the condition that the row holds a distinctive surrogate in a column of the path.
func (w *stepWriter) isErasedRow(via string) string {
	path, _ := w.writer.DataMap.PathVia(w.table.Name, via)
	held := []string{"FALSE"}
	for _, column := range path.Identifying(w.table) {
		fixed, digits := column.SurrogateForm()
		text := "CAST(" + w.alias + "." + Quote(column.Name) + " AS text)"
		held = append(held, "COALESCE("+w.writer.Dialect.matchesForm(text, fixed, digits, w.addConstant)+", FALSE)")
	}
	return "(" + strings.Join(held, " OR ") + ")"
}

func formatInstant(t time.Time) string { return t.UTC().Format(timeFormat) }

func (postgres) matchesForm(
	column string, fixedParts []string, digits int, addParameter func(value any) string,
) string {
	parts := make([]string, len(fixedParts))
	for i, part := range fixedParts {
		parts[i] = regexp.QuoteMeta(part)
	}
	pattern := "^" + strings.Join(parts, "[0-9a-f]{"+strconv.Itoa(digits)+"}") + "$"
	return column + " ~ CAST(" + addParameter(pattern) + " AS text)"
}

// globEscaper escapes the special characters of a GLOB pattern.
var globEscaper = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

func (sqlite) matchesForm(column string, fixedParts []string, digits int, addParameter func(value any) string) string {
	parts := make([]string, len(fixedParts))
	for i, part := range fixedParts {
		parts[i] = globEscaper.Replace(part)
	}
	return column + " GLOB " + addParameter(strings.Join(parts, strings.Repeat("[0-9a-f]", digits)))
}
