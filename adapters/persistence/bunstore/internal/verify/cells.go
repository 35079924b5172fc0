package verify

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// countRetained returns the statement that counts the rows that a retain step covers. The parameter key is the
// subject's key.
func countRetained(w *rows.Writer, live rows.Live, step datamap.Step, key []any) (text string, args []any) {
	table, _ := w.DataMap.Table(step.Target)
	path, _ := w.DataMap.PathVia(step.Target, step.Via)
	sw := w.StepWriter(table, live.Types(table.Name), len(w.DataMap.SubjectTable().SubjectKey))
	text = syntax.Fill(`SELECT count(*) FROM {table} AS t0 WHERE {rows}{concerned}`,
		"table", syntax.QuoteTable(table.Name), "rows", w.RowsOf(table, path, 0), "concerned", sw.CoveredRows(step))
	return text, slices.Concat(key, rows.ResolveConstants(sw.Constants, step.At))
}

// maxReadCell is the maximum number of bytes of a cell in cells.Others that a verification reads.
const maxReadCell = 1 << 20

// cells builds the statements that read the cells of a step for a verification. A result row starts with the primary
// key as texts. Two values follow for each column: the text of the cell, and whether the cell holds the constant that
// the step writes. Two values follow for each column of Others: the text of the cell, and whether the cell is too large
// to be read. The text is then NULL.
type cells struct {
	Writer     *rows.Writer
	Table      datamap.Table
	Step       datamap.Step
	Values     map[string]any // the values that a rectification writes, by the name of the column; nil for an erasure
	Row        []string       // the primary key if the step changes only one row; nil for all rows of the subject
	Live       rows.Live
	Others     []string  // columns that the step does not write; each is one of dialect.columnsOf
	AddedUntil time.Time // skip rows added later, and rows that belong to the subject through them; zero: all rows
}

// Columns returns the columns that the step overwrites. The statements read their cells.
func (c *cells) Columns() []string {
	if c.Step.Strategy != domain.StrategyAnonymize {
		return nil
	}
	return slices.Concat(c.Step.Columns, c.Step.ClearedColumns, c.Step.Expired)
}

// OfSubject returns the statement for the subject's rows that the step covers. The parameter key is the subject's key.
// If onlyWritten is true, the statement reads only rows that this transaction has written.
func (c *cells) OfSubject(key []any, onlyWritten bool) (text string, args []any) {
	sw := c.Writer.StepWriter(c.Table, c.Live.Types(c.Table.Name), len(c.Writer.DataMap.SubjectTable().SubjectKey))
	condition := c.Writer.AddedUntil(sw, c.AddedUntil).RowsOfStep("t0", c.Table, c.Step, 0) + sw.CoveredRows(c.Step)
	if c.Row != nil {
		condition += " AND " + c.Writer.HasPrimaryKey("t0", c.Table, c.Row, sw.AddConstant)
	}
	if onlyWritten {
		condition += " AND " + dialectOf(c.Writer.Dialect).writtenInTransaction()
	}
	text = c.text(sw, condition)
	return text, slices.Concat(key, rows.ResolveConstants(sw.Constants, c.Step.At))
}

const countFound = `SELECT count(*) FROM ({found}) AS found`

// CountOfSubject returns the statement that counts the rows that the statement of OfSubject returns.
func (c *cells) CountOfSubject(key []any) (text string, args []any) {
	text, args = c.OfSubject(key, false)
	return syntax.Fill(countFound, "found", text), args
}

// WithKeys returns the statement for the rows with the given primary keys. These rows may belong to any subject.
func (c *cells) WithKeys(keys [][]string) (text string, args []any) {
	sw := c.Writer.StepWriter(c.Table, c.Live.Types(c.Table.Name), 0)
	alternatives := make([]string, len(keys))
	for i, key := range keys {
		comparisons := make([]string, len(key))
		for j, name := range c.Table.PrimaryKey {
			comparisons[j] = "t0." + syntax.Quote(name) + " = " + sw.AddConstant(key[j])
		}
		alternatives[i] = "(" + strings.Join(comparisons, " AND ") + ")"
	}
	text = c.text(sw, "("+strings.Join(alternatives, " OR ")+")")
	return text, rows.ResolveConstants(sw.Constants, c.Step.At)
}

// Containing returns the statement that reports for each text whether a cell contains it in upper or lower case. The
// cell has one of the columns Others, and the row has the given primary key.
func (c *cells) Containing(key []string, column string, texts []string) (text string, args []any) {
	sw := c.Writer.StepWriter(c.Table, c.Live.Types(c.Table.Name), 0)
	held := "lower(" + dialectOf(c.Writer.Dialect).heldText("t0."+syntax.Quote(column)) + ")"
	selected := make([]string, len(texts))
	for i, sought := range texts {
		folded := "lower(CAST(" + sw.AddConstant(sought) + " AS text))"
		selected[i] = "COALESCE(" + dialectOf(c.Writer.Dialect).contains(held, folded) + ", FALSE)"
	}
	condition := c.Writer.HasPrimaryKey("t0", c.Table, key, sw.AddConstant)
	return syntax.Fill(`SELECT {selected} FROM {table} AS t0 WHERE {condition}`, "selected", strings.Join(selected, ", "),
		"table", syntax.QuoteTable(c.Table.Name), "condition", condition), sw.Constants
}

func (c *cells) text(sw *rows.StepWriter, condition string) string {
	var selected []string
	for _, name := range c.Table.PrimaryKey {
		selected = append(selected, "CAST(t0."+syntax.Quote(name)+" AS text)")
	}
	for i, name := range c.Columns() {
		cell := "CAST(t0." + syntax.Quote(name) + " AS text)"
		if i >= len(c.Step.Columns)+len(c.Step.ClearedColumns) {
			cell = "CASE WHEN " + sw.IsOverwritten(name, c.Step) + " THEN " + cell + " END"
		}
		selected = append(selected, cell, "COALESCE("+c.equalsWritten(sw, name)+", FALSE)")
	}
	for _, name := range c.Others {
		text := dialectOf(c.Writer.Dialect).heldText("t0." + syntax.Quote(name))
		size := dialectOf(c.Writer.Dialect).byteLength(text)
		selected = append(selected, syntax.Fill(`CASE WHEN {size} <= {max} THEN {text} END, COALESCE({size} > {max}, FALSE)`,
			"size", size, "max", strconv.Itoa(maxReadCell), "text", text))
	}
	return syntax.Fill(`SELECT {cells} FROM {table} AS t0 WHERE {condition}`,
		"cells", strings.Join(selected, ", "), "table", syntax.QuoteTable(c.Table.Name), "condition", condition)
}

// equalsWritten returns the condition that a cell holds the constant that the step writes. It returns FALSE if the step
// writes no constant.
func (c *cells) equalsWritten(sw *rows.StepWriter, column string) string {
	if value, rectified := c.Values[column]; rectified {
		written := sw.AddConstant(c.Writer.Parameter(value))
		return c.Writer.EqualsConstant("t0."+syntax.Quote(column), written, sw.Types[column])
	}
	described, _ := c.Table.Column(column)
	switch {
	case slices.Contains(c.Step.ClearedColumns, column): // a cleared cell is NULL
		return "FALSE"
	case isText(described) && described.Surrogate == "" || described.IsNulled() || described.Digits() > 0:
		return "FALSE"
	}
	return c.Writer.EqualsConstant("t0."+syntax.Quote(column), sw.Surrogate(column), sw.Types[column])
}

func isText(column datamap.Column) bool {
	return column.Type == datamap.TypeText || column.Type == datamap.TypeUUID
}

// dialect has the differences between PostgreSQL and SQLite in the statements of a verification.
type dialect interface {
	// columnsOf returns the statement that lists the columns of a table that may hold a text, and the only parameter of
	// the statement. It includes generated columns.
	columnsOf(table string) (text, parameter string)

	// heldText returns the expression for the text of a cell, or for NULL if the cell cannot hold a text. The column is
	// one that columnsOf lists.
	heldText(column string) string

	// byteLength returns the expression for the number of bytes of a text.
	byteLength(text string) string

	// contains returns the condition that a text contains the text of a parameter.
	contains(text, parameter string) string

	// writtenInTransaction returns the condition that this transaction has written a row of the table t0. The condition
	// may also be true for a row that another transaction committed during this transaction. It does not work on a view.
	writtenInTransaction() string
}

func dialectOf(d syntax.Dialect) dialect { return syntax.Choose[dialect](d, postgres{}, sqlite{}) }

// columnsOf also returns the columns of a temporary table. It omits numbers and booleans.
func (postgres) columnsOf(table string) (text, parameter string) {
	return `
		SELECT CAST(a.attname AS text) FROM pg_catalog.pg_attribute AS a
		JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
		WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
			AND t.typcategory NOT IN ('N', 'B')
		ORDER BY a.attnum`, syntax.QuoteTable(table)
}

func (postgres) heldText(column string) string { return rows.AsText(column) }
func (postgres) byteLength(text string) string { return "octet_length(" + text + ")" }

func (postgres) contains(text, parameter string) string {
	return "strpos(" + text + ` COLLATE "C"` + ", CAST(" + parameter + " AS text)) > 0"
}

// writtenInTransaction compares xmin, the id of the transaction that wrote the row, with the id of this transaction.
// Because xmin has only 32 bits, the difference is modulo 2^32:
//
//   - 0: this transaction wrote the row.
//   - 2^31 or more: xmin is lower, so another transaction wrote the row.
//   - other values: xmin is higher. It belongs to a savepoint (subtransaction) of this transaction, or to a transaction
//     that started later and has committed.
//
// The condition distinguishes the two cases of a higher xmin:
//
//   - An id of at least xmax (the end of the snapshot) belongs to this transaction, because the row is visible.
//   - For a lower id, pg_xact_status returns 'in progress' only if the id belongs to this transaction, because rows of
//     other unfinished transactions are not visible.
func (postgres) writtenInTransaction() string {
	const own = `CAST(CAST(pg_current_xact_id() AS text) AS bigint)`
	const since = `((CAST(CAST(t0.xmin AS text) AS bigint) - ` + own + ` % 4294967296 + 4294967296) % 4294967296)`
	const number = `CAST(CAST(` + own + ` + ` + since + ` AS text) AS xid8)`
	return `CASE WHEN ` + since + ` = 0 THEN TRUE
		WHEN ` + since + ` >= 2147483648 THEN FALSE
		WHEN ` + number + ` >= pg_snapshot_xmax(pg_current_snapshot()) THEN TRUE
		ELSE pg_xact_status(` + number + `) = 'in progress' END`
}

// columnsOf returns all columns, because each value of SQLite has a type of its own; see heldText.
func (sqlite) columnsOf(table string) (text, parameter string) {
	schema, name, qualified := strings.Cut(table, ".")
	if !qualified {
		return `SELECT c.name FROM pragma_table_xinfo($1) AS c WHERE c.hidden <> 1 ORDER BY c.cid`, table
	}
	return `SELECT c.name FROM pragma_table_xinfo($1, ` + syntax.Literal(schema) +
		`) AS c WHERE c.hidden <> 1 ORDER BY c.cid`, name
}

func (sqlite) heldText(column string) string {
	return "CASE WHEN typeof(" + column + ") IN ('text', 'blob') THEN " + rows.AsText(column) + " END"
}

func (sqlite) byteLength(text string) string { return "length(CAST(" + text + " AS blob))" }

func (sqlite) contains(text, parameter string) string {
	return "instr(" + text + ", CAST(" + parameter + " AS text)) > 0"
}

func (sqlite) writtenInTransaction() string { return "TRUE" }

type postgres struct{}

type sqlite struct{}

// LeftOver adds a count to leftovers for the rows and cells that still exist, although the step should have deleted or
// overwritten them. It ignores rows that were added after erasedAt, the time of the erasure that has executed the step.
// LeftOver changes no data.
func (s *Step) LeftOver(
	ctx context.Context, erasedAt time.Time, leftovers domain.Leftovers,
) (domain.Leftovers, error) {
	if s.Self { // the later step finds the rows to which a reference leads
		return leftovers, nil
	}
	cells := s.cellsOf()
	cells.AddedUntil = erasedAt
	switch s.Strategy { //nolint:exhaustive // a retain step leaves all rows
	case domain.StrategyDelete:
		rows, err := s.count(ctx, cells)
		return leftovers.Add(s.table.Name, "", rows), err
	case domain.StrategyAnonymize:
	default:
		return leftovers, nil
	}
	left := map[string]int64{}
	text, args := cells.OfSubject(s.key, false)
	err := s.readCells(ctx, cells, text, args, func(_ []string, content []heldCell, _ []otherCell) {
		for _, cell := range content {
			if s.isLeftOver(cell) {
				left[cell.column]++
			}
		}
	})
	for _, name := range cells.Columns() {
		leftovers = leftovers.Add(s.table.Name, name, left[name])
	}
	return leftovers, err
}

// isLeftOver reports whether a cell holds a value that the step did not write. A surrogate for a text or a UUID can be
// recognized by its form. Every other surrogate is a constant. If the cell holds this constant, cell.written is true.
func (s *Step) isLeftOver(cell heldCell) bool {
	column, _ := s.table.Column(cell.column)
	switch {
	case !cell.text.Valid:
		return false
	case slices.Contains(s.ClearedColumns, cell.column):
		return true
	case cell.text.String == "" || cell.written:
		return false
	case column.Type == datamap.TypeText || column.Type == datamap.TypeUUID:
		return column.IsLeftOver(cell.text.String)
	default:
		return true
	}
}

func (s *Step) count(ctx context.Context, cells *cells) (rows int64, err error) {
	text, args := cells.CountOfSubject(s.key)
	err = s.db.Read(ctx, s.Op, func(r *sql.Rows) error { return r.Scan(&rows) }, text, args...)
	return rows, err
}
