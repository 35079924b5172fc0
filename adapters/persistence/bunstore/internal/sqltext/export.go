package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Export is a statement that reads the exported columns of several tables. Each row starts with the number of its
// source and its position in that source. The values of the source follow, from the first value column on.
type Export struct {
	dialect Dialect
	dataMap domain.DataMap
	sources []source
	width   int // the number of values of the widest source
	Text    string
	Sighted bool // the first source is a sight of the subject, see Locks
}

// NewExports returns the statements that read everything that an export of a subject contains. The tables of the
// application come first, then the ledgers.
func NewExports(w *Writer, locks *Locks) []Export {
	subject := w.DataMap.SubjectTable()
	keys := len(subject.SubjectKey)
	erased := fill(wasErased, "erasures", w.Tables.Erasures, "subject", parameter(keys+1))
	all := []source{{
		table: subject, selected: append(slices.Clone(locks.sight), erased), from: w.fromSubject, keys: keys,
		leads: func(int) []string { return nil },
	}}
	for _, table := range w.DataMap.Tables() {
		if columns := w.DataMap.ExportedColumns(table); len(columns) > 0 {
			s := newSource(w.Dialect, table, columns)
			s.keys = keys
			s.from = func(others int) string {
				return fill(fromOfSubject, "table", quoteTable(table.Name), "rows", w.allRowsOf(table, others))
			}
			s.divide(w)
			all = append(all, s)
		}
	}
	names := []string{w.Tables.Consents, w.Tables.Restrictions}
	for i, ledger := range domain.LedgerTables() {
		s := newSource(w.Dialect, ledger, ledger.Exported())
		s.from = func(others int) string {
			return fill(fromLedger, "table", names[i], "subject", parameter(others+1))
		}
		all = append(all, s)
	}
	// SQLite compiles a statement each time. One statement per table costs less than one statement for all tables.
	atOnce := 1
	if w.Dialect.Joins() {
		atOnce = len(all)
	}
	var statements []Export
	for sources := range slices.Chunk(all, atOnce) {
		statements = append(statements, newExport(w, sources, len(statements) == 0))
	}
	return statements
}

const (
	exportOne    = `SELECT 0, 0, {values} {from} ORDER BY {key}`
	exportBranch = `
		SELECT {number} AS source, row_number() OVER (ORDER BY {key}) AS position, {values}
		{from}`

	// wasErased is the last expression of a sight (see Locks). Its value is the number of erasures of the subject as a
	// text, or NULL.
	wasErased = `(SELECT CAST(erasures AS text) FROM {erasures} WHERE subject_id = {subject} AND erasures > 0)`

	fromOfSubject = `FROM {table} AS t0 WHERE {rows}`
	fromLedger    = `FROM {table} AS t0 WHERE t0.subject_id = {subject}`
)

func newExport(w *Writer, sources []source, sighted bool) Export {
	e := Export{dialect: w.Dialect, dataMap: w.DataMap, sources: sources, Sighted: sighted}
	for _, source := range sources {
		e.width = max(e.width, len(source.selected)+len(source.paths))
	}
	statement := exportOne
	if len(sources) > 1 {
		statement = exportBranch
	}
	branches, parameters := make([]string, len(sources)), 0
	for i, source := range sources {
		missing := slices.Repeat([]string{"NULL"}, e.width-len(source.selected)-len(source.paths))
		values := slices.Concat(source.selected, source.leads(parameters), missing)
		branches[i] = fill(statement, "number", strconv.Itoa(i), "key", list("t0", source.table.PrimaryKey),
			"values", strings.Join(values, ", "), "from", source.from(parameters))
		parameters += max(source.keys, 1)
		if sighted && i == 0 {
			parameters++ // the subject's id
		}
	}
	e.Text = strings.Join(branches, " UNION ALL ")
	if len(sources) > 1 {
		e.Text += " ORDER BY 1, 2" // a number, because a column of the application may have the name
	}
	return e
}

// Args returns the parameters of the statement. A table of the application takes the subject's key, and a ledger takes
// the subject's id. A sight takes both.
func (e *Export) Args(id domain.SubjectID, key []any) []any {
	var args []any
	for i, source := range e.sources {
		args = append(args, key[:source.keys]...)
		if source.keys == 0 || e.Sighted && i == 0 {
			args = append(args, id.String())
		}
	}
	return args
}
