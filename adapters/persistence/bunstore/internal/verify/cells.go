package verify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// maxReadCell is the maximum number of bytes of a cell outside the overwritten columns that a verification reads.
const maxReadCell = 1 << 20

// overwritten returns the columns that the step overwrites. The statements read their cells.
func (s *Step) overwritten() []string {
	if s.Strategy != domain.StrategyAnonymize {
		return nil
	}
	return slices.Concat(s.Columns, s.ClearedColumns, s.Expired)
}

// ofSubject returns the statement for the subject's rows that the step covers. If onlyWritten is true, the statement
// reads only rows that this transaction may have written, see dialect.writtenInTransaction.
func (s *Step) ofSubject(onlyWritten bool) (text string, args []any) {
	sw := s.writer.StepWriter(s.table, s.live.Types(s.table.Name), len(s.writer.DataMap.SubjectTable().SubjectKey))
	condition := s.writer.AddedUntil(sw, s.addedUntil).RowsOfStep("t0", s.table, s.Step, 0) + sw.CoveredRows(s.Step)
	if s.row != nil {
		condition += " AND " + s.writer.HasPrimaryKey("t0", s.table, s.row, sw.AddConstant)
	}
	if onlyWritten {
		condition += " AND " + s.isWritten()
	}
	text = s.readingCells(sw, condition)
	return text, slices.Concat(s.key, rows.ResolveConstants(sw.Constants, s.At))
}

// rowKey holds the values of the primary key of a row, see rows.Writer.KeyValues.
type rowKey []any

// id returns a text that identifies the key.
func (k rowKey) id() string {
	texts := make([]string, len(k))
	for i, value := range k {
		texts[i] = fmt.Sprintf("%T %v", value, value)
	}
	return domain.CanonicalTuple(texts)
}

// isUnique reports whether at most one row has the key. Several rows may have a key that contains NULL.
func (k rowKey) isUnique() bool { return !slices.Contains(k, nil) }

// withKeys returns the statement for the rows with the given primary keys. These rows may belong to any subject, except
// rows whose key is not unique.
func (s *Step) withKeys(keys []rowKey) (text string, args []any) {
	types := s.live.Types(s.table.Name)
	if slices.ContainsFunc(keys, func(key rowKey) bool { return !key.isUnique() }) {
		args = s.key
	}
	sw, alternatives := s.writer.StepWriter(s.table, types, len(args)), make([]string, len(keys))
	for i, key := range keys {
		alternatives[i] = "(" + s.writer.HasKey("t0", s.table, types, key, sw.AddConstant) + ")"
		if !key.isUnique() {
			alternatives[i] += " AND " + s.writer.RowsOfStep("t0", s.table, s.Step, 0)
		}
	}
	text = s.readingCells(sw, "("+strings.Join(alternatives, " OR ")+")")
	return text, slices.Concat(args, rows.ResolveConstants(sw.Constants, s.At))
}

// containing returns the statement that reports for each text whether a cell contains it in upper or lower case. The
// cell has one of the columns that the step does not write, and the row has the given primary key.
func (s *Step) containing(key rowKey, column string, texts []string) (text string, args []any) {
	types := s.live.Types(s.table.Name)
	sw := s.writer.StepWriter(s.table, types, 0)
	held := "lower(" + dialectOf(s.writer.Dialect).heldText("t0."+syntax.Quote(column)) + ")"
	selected := make([]string, len(texts))
	for i, sought := range texts {
		folded := "lower(CAST(" + sw.AddConstant(sought) + " AS text))"
		selected[i] = "COALESCE(" + dialectOf(s.writer.Dialect).contains(held, folded) + ", FALSE)"
	}
	condition := s.writer.HasKey("t0", s.table, types, key, sw.AddConstant)
	return syntax.Fill(`SELECT {selected} FROM {table} AS t0 WHERE {condition}`, "selected", strings.Join(selected, ", "),
		"table", syntax.QuoteTable(s.table.Name), "condition", condition), sw.Constants
}

// readingCells returns the statement that reads the cells of the rows with a condition. A result row starts with the
// primary key. One value follows for each overwritten column (see heldCell.Scan), and for each column of copies.columns
// (see otherCell.Scan). It is one value, because a statement returns little more values than a table can have columns.
func (s *Step) readingCells(sw *rows.StepWriter, condition string) string {
	selected := s.writer.KeyValues("t0", s.table.PrimaryKey)
	for i, name := range s.overwritten() {
		cell := dialectOf(s.writer.Dialect).text("t0." + syntax.Quote(name))
		if i >= len(s.Columns)+len(s.ClearedColumns) {
			cell = "CASE WHEN " + sw.IsOverwritten(name, s.Step) + " THEN " + cell + " END"
		}
		selected = append(selected, syntax.Fill(`CASE WHEN {written} THEN 'w' ELSE 'o' END || COALESCE('=' || {cell}, '')`,
			"written", s.equalsWritten(sw, name), "cell", cell))
	}
	for _, name := range s.copies.columns {
		text := dialectOf(s.writer.Dialect).heldText("t0." + syntax.Quote(name))
		size := dialectOf(s.writer.Dialect).byteLength("t0." + syntax.Quote(name))
		selected = append(selected, syntax.Fill(`CASE WHEN {size} > {max} THEN 'large' ELSE '=' || {text} END`,
			"size", size, "max", strconv.Itoa(maxReadCell), "text", text))
	}
	selected = append(selected, s.readingKept(sw)...)
	return syntax.Fill(`SELECT {cells} FROM {table} AS t0 WHERE {condition}`,
		"cells", strings.Join(selected, ", "), "table", syntax.QuoteTable(s.table.Name), "condition", condition)
}

// equalsWritten returns the condition that a cell holds the constant that the step writes. It returns FALSE if the step
// writes no constant.
func (s *Step) equalsWritten(sw *rows.StepWriter, column string) string {
	if value, rectified := s.values[column]; rectified {
		written := sw.AddConstant(s.writer.Parameter(value))
		return s.writer.EqualsConstant("t0."+syntax.Quote(column), written, sw.Types[column])
	}
	described, _ := s.table.Column(column)
	switch {
	case slices.Contains(s.ClearedColumns, column): // a cleared cell is NULL
		return "FALSE"
	case isText(described) && described.Surrogate == "" || described.IsNulled() || described.Digits() > 0:
		return "FALSE"
	}
	return s.writer.EqualsConstant("t0."+syntax.Quote(column), sw.Surrogate(column), sw.Types[column])
}

func isText(column datamap.Column) bool {
	return column.Type == datamap.TypeText || column.Type == datamap.TypeUUID
}

// dialect has the differences between PostgreSQL and SQLite in the statements of a verification.
type dialect interface {
	// columnsOf returns the statement that lists the columns of a table that may hold a text, and the only parameter of
	// the statement. It includes generated columns.
	columnsOf(table string) (text, parameter string)

	// text returns the expression for the text of a cell.
	text(column string) string

	// heldText returns the expression for the text of a cell, or for NULL if the cell cannot hold a text. The column is
	// one that columnsOf lists.
	heldText(column string) string

	// byteLength returns the expression for the number of bytes of heldText. The number for a text of less than 64 KiB
	// may be up to 4 too low.
	byteLength(column string) string

	// contains returns the condition that a text contains the text of a parameter.
	contains(text, parameter string) string

	// writtenSince returns the condition that this transaction has written a row of the table t0 since its last open
	// savepoint. It is "" if the database does not know.
	writtenSince() string

	// digest returns an expression for a cell that is another one if the value of the cell is another one: the value
	// itself, or a number that depends on it. It is never NULL.
	digest(column string) string

	// writtenInTransaction returns the condition that this transaction has written a row of the table t0. The condition
	// may also be true for a row that another transaction committed during this transaction; on SQLite, it is true for
	// every row. It does not work on a view.
	writtenInTransaction() string
}

// WrittenSince returns the condition that this transaction has written a row of the table t0 since its last open
// savepoint, or "".
func WrittenSince(d syntax.Dialect) string { return dialectOf(d).writtenSince() }

func dialectOf(d syntax.Dialect) dialect { return syntax.Choose[dialect](d, postgres{}, sqlite{}) }

type postgres struct{}

// columnsOf also returns the columns of a temporary table. It omits numbers and booleans.
func (postgres) columnsOf(table string) (text, parameter string) {
	return `
		SELECT CAST(a.attname AS text) FROM pg_catalog.pg_attribute AS a
		JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
		WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
			AND t.typcategory NOT IN ('N', 'B')
		ORDER BY a.attnum`, syntax.QuoteTable(table)
}

func (postgres) text(column string) string       { return rows.AsText(column) }
func (postgres) heldText(column string) string   { return rows.AsText(column) }
func (postgres) byteLength(column string) string { return "octet_length(" + rows.AsText(column) + ")" }

func (postgres) contains(text, parameter string) string {
	return "strpos(" + text + ` COLLATE "C"` + ", CAST(" + parameter + " AS text)) > 0"
}

func (postgres) digest(column string) string {
	return "COALESCE(hashtextextended(" + rows.AsText(column) + ` COLLATE "C", 0), 0)`
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

// writtenSince compares the ages of transaction ids. A savepoint has an id once a statement has written, and holds a
// lock on the id until the savepoint is released.
func (p postgres) writtenSince() string {
	return `age(t0.xmin) <= (SELECT min(age(l.transactionid)) FROM pg_catalog.pg_locks AS l
		WHERE l.locktype = 'transactionid' AND l.pid = pg_backend_pid() AND l.mode = 'ExclusiveLock' AND l.granted)
		AND ` + p.writtenInTransaction()
}

type sqlite struct{}

// columnsOf returns all columns, because each value of SQLite has a type of its own; see heldText.
func (sqlite) columnsOf(table string) (text, parameter string) {
	schema, name, qualified := strings.Cut(table, ".")
	if !qualified {
		return `SELECT c.name FROM pragma_table_xinfo($1) AS c WHERE c.hidden <> 1 ORDER BY c.cid`, table
	}
	return `SELECT c.name FROM pragma_table_xinfo($1, ` + syntax.Literal(schema) +
		`) AS c WHERE c.hidden <> 1 ORDER BY c.cid`, name
}

func (sqlite) text(column string) string {
	return syntax.Fill(`CASE typeof({column}) WHEN 'blob' THEN {text} ELSE {other} END`,
		"column", column, "text", syntax.BlobText(column), "other", rows.AsText(column))
}

// heldText returns the texts of a blob in both encodings, because a trigger may have cast an erased text to a blob.
func (sqlite) heldText(column string) string {
	return syntax.Fill(`CASE typeof({column}) WHEN 'text' THEN {column} WHEN 'blob' THEN {texts} END`,
		"column", column, "texts", syntax.BlobTexts(column))
}

func (sqlite) byteLength(column string) string {
	return syntax.Fill(`
		CASE typeof({column}) WHEN 'blob' THEN length({column}) WHEN 'text' THEN length({bytes}) - {header} END`,
		"column", column, "bytes", syntax.WithHeader(column), "header", strconv.Itoa(syntax.LongHeader))
}

func (sqlite) contains(text, parameter string) string {
	return "instr(" + text + ", CAST(" + parameter + " AS text)) > 0"
}

// digest is an expression, so that the drivers do not convert the value by the type of the column.
func (sqlite) digest(column string) string { return "COALESCE(" + column + ", x'006e756c6c00')" }

func (sqlite) writtenSince() string         { return "" }
func (sqlite) writtenInTransaction() string { return "TRUE" }
