package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
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
func NewSweeps(w *rows.Writer) Sweeps {
	subject, lock := w.DataMap.SubjectTable(), w.Dialect.ForUpdate()
	texts := append([]string{live.Fingerprint(w.Dialect, w.Touched, w.Tables)}, lifeOfRow(w)...)
	if lock != "" {
		lock += " OF t0"
	}
	return Sweeps{
		Fingerprint: "SELECT " + texts[0],
		LockMark:    w.Tables.Fill(lockErasedMark, "lock", w.Dialect.ForUpdate()),
		LockRow: syntax.Fill(lockTexts, "texts", strings.Join(texts, ", "), "table", syntax.QuoteTable(subject.Name),
			"rows", w.RowsOf(subject, domain.Path{}, 0), "lock", lock),
		RecordSweep: w.Tables.Fill(recordSweep),
	}
}

// DueSubjects returns the statement that finds the subjects with cells that one of the steps overwrites:
//
//	SELECT 0 WHERE EXISTS (...) OR EXISTS (...) UNION ALL SELECT 1 WHERE ...
//
// The numbers are indexes in keys and scopes, which have one element for each subject. A scope restricts the cells that
// the statement considers.
func DueSubjects(
	w *rows.Writer, live rows.Live, steps []domain.Step, keys [][]any, scopes []*domain.SweepScope,
) (text string, args []any) {
	selects := make([]string, len(keys))
	for i, key := range keys {
		found := make([]string, len(steps))
		for j, step := range steps {
			step.Scope = scopes[i]
			table, _ := w.DataMap.Table(step.Target)
			path, _ := w.DataMap.PathVia(step.Target, step.Via)
			sw := w.StepWriter(table, live.Types(table.Name), len(args)+len(key))
			found[j] = "EXISTS (" + syntax.Fill(rows.SelectRows, "target", syntax.QuoteTable(table.Name)+" AS t0",
				"rows", w.RowsOf(table, path, len(args)), "concerned", sw.CoveredRows(step)) + ")"
			args = slices.Concat(args, key, rows.ResolveConstants(sw.Constants, step.At))
		}
		selects[i] = "SELECT " + strconv.Itoa(i) + " WHERE " + strings.Join(found, " OR ")
	}
	return strings.Join(selects, " UNION ALL "), args
}
