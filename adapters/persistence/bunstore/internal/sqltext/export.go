package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Export is a statement that reads the exported columns of one or more tables (its sources). A result row has the index
// of its source, the position of the row in this source, and the values of the row. If another source has more values,
// NULL fills the remaining columns.
type Export struct {
	dialect            Dialect
	dataMap            datamap.DataMap
	sources            []source
	width              int // the number of values of the widest source
	Text               string
	ReadsPreconditions bool // the first source is the row of preconditions, see Locks
}

// NewExports returns the statements that read the data of a subject for an export. The tables of the application come
// first, then the ledgers (consents and restrictions). The first source of the first statement is the row of
// preconditions (the values that the caller must check before it continues, see Locks).
func NewExports(w *Writer, locks *Locks) []Export {
	subject := w.DataMap.SubjectTable()
	keys := len(subject.SubjectKey)
	erased := fill(erasureCount, "erasures", w.Tables.Erasures, "subject", placeholder(keys+1))
	all := []source{{
		table: subject, selected: append(slices.Clone(locks.preconditions), erased), fromClause: w.fromSubject,
		keyParameters: keys, pathValues: func(int) []string { return nil },
	}}
	for _, table := range w.DataMap.Tables() {
		if columns := w.DataMap.ExportedColumns(table); len(columns) > 0 {
			s := newSource(w.Dialect, table, columns)
			s.keyParameters = keys
			s.fromClause = func(offset int) string {
				return fill(fromOfSubject, "table", quoteTable(table.Name), "rows", w.allRowsOf(table, offset))
			}
			s.restrictByPath(w)
			all = append(all, s)
		}
	}
	names, kinds := []string{w.Tables.Consents, w.Tables.Restrictions}, []Kind{Consents, Restrictions}
	for i, ledger := range datamap.LedgerTables() {
		s := newSource(w.Dialect, ledger, ledger.Exported())
		s.fromClause = func(offset int) string {
			subject := placeholder(offset + 1)
			return fill(fromLedger, "table", names[i], "subject", subject, "until", w.Tables.earlierUntil(kinds[i], subject))
		}
		all = append(all, s)
	}
	// SQLite compiles a statement at each execution. One small statement for each table therefore costs less than one
	// large statement for all tables.
	tablesPerStatement := 1
	if w.Dialect.CombinesChanges() {
		tablesPerStatement = len(all)
	}
	var statements []Export
	for sources := range slices.Chunk(all, tablesPerStatement) {
		statements = append(statements, newExport(w, sources, len(statements) == 0))
	}
	return statements
}

const (
	exportOne    = `SELECT 0, 0, {values} {from} ORDER BY {key}`
	exportBranch = `
		SELECT {number} AS source, row_number() OVER (ORDER BY {key}) AS position, {values}
		{from}`

	// erasureCount is the last value in the row of preconditions (the first row of an export): the number of erasures of
	// the subject as a text, or NULL if the subject was never erased.
	erasureCount = `(SELECT CAST(erasures AS text) FROM {erasures} WHERE subject_id = {subject} AND erasures > 0)`

	fromOfSubject = `FROM {table} AS t0 WHERE {rows}`
	fromLedger    = `FROM {table} AS t0 WHERE t0.subject_id = {subject} AND t0.seq > COALESCE({until}, 0)`
)

func newExport(w *Writer, sources []source, readsPreconditions bool) Export {
	e := Export{dialect: w.Dialect, dataMap: w.DataMap, sources: sources, ReadsPreconditions: readsPreconditions}
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
		values := slices.Concat(source.selected, source.pathValues(parameters), missing)
		branches[i] = fill(statement, "number", strconv.Itoa(i), "key", list("t0", source.table.PrimaryKey),
			"values", strings.Join(values, ", "), "from", source.fromClause(parameters))
		parameters += max(source.keyParameters, 1)
		if readsPreconditions && i == 0 {
			parameters++ // the subject's id
		}
	}
	e.Text = strings.Join(branches, " UNION ALL ")
	if len(sources) > 1 {
		e.Text += " ORDER BY 1, 2" // not by name, because a column of the application may have the same name
	}
	return e
}

// Args returns the parameters of the statement. A table of the application needs the subject's key, and a ledger needs
// the subject's id. The row of preconditions (the first row of an export) needs both.
func (e *Export) Args(id domain.SubjectID, key []any) []any {
	var args []any
	for i, source := range e.sources {
		args = append(args, key[:source.keyParameters]...)
		if source.keyParameters == 0 || e.ReadsPreconditions && i == 0 {
			args = append(args, id.String())
		}
	}
	return args
}
