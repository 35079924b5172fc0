package sqltext

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Sweeps holds the statements that lock a subject for a sweep.
type Sweeps struct {
	Fingerprint string // reads the fingerprint of the catalog
	Mark        string // locks the mark of the subject $1; returns the instants of the last erasure and the last sweep
	Row         string // locks the subject's row; returns the fingerprint and Identifying texts
	Swept       string // records a sweep of the subject $1 at $2
	Identifying int    // the number of texts that Row returns
}

const (
	holdErased = `SELECT erased_at, swept_at FROM {erasures} WHERE subject_id = $1 AND erasures > 0{lock}`
	noteSweep  = `UPDATE {erasures} SET swept_at = $2 WHERE subject_id = $1`
	lockTexts  = `SELECT {texts} FROM {table} AS t0 WHERE {rows}{lock}`
)

// NewSweeps returns the statements of sweeps.
func NewSweeps(w *Writer) Sweeps {
	subject, lock := w.DataMap.SubjectTable(), w.Dialect.forUpdate()
	texts := []string{w.Dialect.fingerprint(w.Touched)}
	for _, column := range subject.Identifying() {
		texts = append(texts, "CAST(t0."+Quote(column.Name)+" AS text)")
	}
	if lock != "" {
		lock += " OF t0"
	}
	return Sweeps{
		Fingerprint: "SELECT " + texts[0],
		Mark:        w.Tables.in(holdErased, "lock", w.Dialect.forUpdate()),
		Row: fill(lockTexts, "texts", strings.Join(texts, ", "), "table", quoteTable(subject.Name),
			"rows", w.rowsOf(subject, domain.Path{}, 0), "lock", lock),
		Swept:       w.Tables.in(noteSweep),
		Identifying: len(texts) - 1,
	}
}

// Due returns the statement that selects the indexes of the subjects for which a step finds a cell to overwrite. Each
// subject has a key, and the record of the cells that an erasure left.
func (w *Writer) Due(
	live Live, steps []domain.Step, keys [][]any, scope []*domain.SweepScope,
) (text string, args []any) {
	selects := make([]string, len(keys))
	for i, key := range keys {
		found := make([]string, len(steps))
		for j, step := range steps {
			step.Scope = scope[i]
			table, _ := w.DataMap.Table(step.Target)
			path, _ := w.DataMap.PathVia(step.Target, step.Via)
			sw := w.stepWriter(table, live.Types(table.Name), len(args)+len(key))
			found[j] = "EXISTS (" + fill(selectRows, "target", quoteTable(table.Name)+" AS t0",
				"rows", w.rowsOf(table, path, len(args)), "concerned", sw.concerned(step)) + ")"
			args = slices.Concat(args, key, constantsAt(sw.constants, step.At))
		}
		selects[i] = "SELECT " + strconv.Itoa(i) + " WHERE " + strings.Join(found, " OR ")
	}
	return strings.Join(selects, " UNION ALL "), args
}

// goes returns the condition that a step overwrites a retained cell.
func (w *stepWriter) goes(name string, step domain.Step) string {
	expired := w.expired(name, step.At)
	if step.Scope == nil || step.At.IsZero() {
		return expired
	}
	column, _ := w.table.Column(name)
	cell := w.name + "." + Quote(name)
	conditions := []string{expired, cell + " IS NOT NULL"}
	fixed, digits := column.SurrogateForm()
	switch {
	case !column.RecognizesSurrogate():
		judged := w.begunBy(name, func(period domain.Period) any { return timeText(period.Cutoff(step.Scope.DutyEndsAfter)) })
		conditions = append(conditions, "NOT ("+judged+")")
	case digits > 0:
		conditions = append(conditions, "NOT "+w.writer.Dialect.hasForm("CAST("+cell+" AS text)", fixed, digits, w.constant))
	default:
		conditions = append(conditions, "NOT ("+w.writer.Dialect.isConstant(cell, w.surrogate(name), w.types[name])+")")
	}
	if until := step.Scope.DutyStartsBy; !until.IsZero() {
		conditions = append(conditions, w.begunBy(name, func(domain.Period) any { return timeText(until) }))
	}
	return "(" + strings.Join(conditions, " AND ") + ")"
}

func timeText(t time.Time) string { return t.UTC().Format(timeFormat) }

func (postgres) hasForm(column string, fixed []string, digits int, parameter func(pattern any) string) string {
	parts := make([]string, len(fixed))
	for i, part := range fixed {
		parts[i] = regexp.QuoteMeta(part)
	}
	pattern := "^" + strings.Join(parts, "[0-9a-f]{"+strconv.Itoa(digits)+"}") + "$"
	return column + " ~ CAST(" + parameter(pattern) + " AS text)"
}

// ofGlob escapes the special characters of a GLOB pattern.
var ofGlob = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

func (sqlite) hasForm(column string, fixed []string, digits int, parameter func(pattern any) string) string {
	parts := make([]string, len(fixed))
	for i, part := range fixed {
		parts[i] = ofGlob.Replace(part)
	}
	return column + " GLOB " + parameter(strings.Join(parts, strings.Repeat("[0-9a-f]", digits)))
}
