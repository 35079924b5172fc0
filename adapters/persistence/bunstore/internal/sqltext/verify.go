package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// CountRetained returns the statement that counts the rows that a retain step covers. The parameter key is the
// subject's key.
func (w *Writer) CountRetained(live Live, step datamap.Step, key []any) (text string, args []any) {
	table, _ := w.DataMap.Table(step.Target)
	path, _ := w.DataMap.PathVia(step.Target, step.Via)
	sw := w.stepWriter(table, live.Types(table.Name), len(w.DataMap.SubjectTable().SubjectKey))
	text = fill(`SELECT count(*) FROM {table} AS t0 WHERE {rows}{concerned}`,
		"table", quoteTable(table.Name), "rows", w.rowsOf(table, path, 0), "concerned", sw.coveredRows(step))
	return text, slices.Concat(key, resolveConstants(sw.constants, step.At))
}

// maxReadCell is the maximum number of bytes of a cell in Cells.Others that a verification reads.
const maxReadCell = 1 << 20

// Cells builds the statements that read the cells of a step for a verification. A result row starts with the primary
// key as texts. Two values follow for each column: the text of the cell, and whether the cell holds the constant that
// the step writes. Two values follow for each column of Others: the text of the cell, and whether the cell is too large
// to be read. The text is then NULL.
type Cells struct {
	Writer     *Writer
	Table      datamap.Table
	Step       datamap.Step
	Values     map[string]any // the values that a rectification writes, by the name of the column; nil for an erasure
	Row        []string       // the primary key if the step changes only one row; nil for all rows of the subject
	Live       Live
	Others     []string  // columns that the step does not write; each is one of Dialect.ColumnsOf
	AddedUntil time.Time // skip rows added later, and rows that belong to the subject through them; zero: all rows
}

// Columns returns the columns that the step overwrites. The statements read their cells.
func (c *Cells) Columns() []string {
	if c.Step.Strategy != domain.StrategyAnonymize {
		return nil
	}
	return slices.Concat(c.Step.Columns, c.Step.ClearedColumns, c.Step.Expired)
}

// OfSubject returns the statement for the subject's rows that the step covers. The parameter key is the subject's key.
// If onlyWritten is true, the statement reads only rows that this transaction has written.
func (c *Cells) OfSubject(key []any, onlyWritten bool) (text string, args []any) {
	sw := c.Writer.stepWriter(c.Table, c.Live.Types(c.Table.Name), len(c.Writer.DataMap.SubjectTable().SubjectKey))
	condition := c.Writer.addedUntil(sw, c.AddedUntil).rowsOfStep("t0", c.Table, c.Step, 0) + sw.coveredRows(c.Step)
	if c.Row != nil {
		condition += " AND " + c.Writer.hasPrimaryKey("t0", c.Table, c.Row, sw.addConstant)
	}
	if onlyWritten {
		condition += " AND " + c.Writer.Dialect.writtenInTransaction()
	}
	text = c.text(sw, condition)
	return text, slices.Concat(key, resolveConstants(sw.constants, c.Step.At))
}

// WithKeys returns the statement for the rows with the given primary keys. These rows may belong to any subject.
func (c *Cells) WithKeys(keys [][]string) (text string, args []any) {
	sw := c.Writer.stepWriter(c.Table, c.Live.Types(c.Table.Name), 0)
	alternatives := make([]string, len(keys))
	for i, key := range keys {
		comparisons := make([]string, len(key))
		for j, name := range c.Table.PrimaryKey {
			comparisons[j] = "t0." + Quote(name) + " = " + sw.addConstant(key[j])
		}
		alternatives[i] = "(" + strings.Join(comparisons, " AND ") + ")"
	}
	text = c.text(sw, "("+strings.Join(alternatives, " OR ")+")")
	return text, resolveConstants(sw.constants, c.Step.At)
}

// Containing returns the statement that reports for each text whether a cell contains it in upper or lower case. The
// cell has one of the columns Others, and the row has the given primary key.
func (c *Cells) Containing(key []string, column string, texts []string) (text string, args []any) {
	sw := c.Writer.stepWriter(c.Table, c.Live.Types(c.Table.Name), 0)
	held := "lower(" + c.Writer.Dialect.heldText("t0."+Quote(column)) + ")"
	selected := make([]string, len(texts))
	for i, sought := range texts {
		folded := "lower(CAST(" + sw.addConstant(sought) + " AS text))"
		selected[i] = "COALESCE(" + c.Writer.Dialect.contains(held, folded) + ", FALSE)"
	}
	condition := c.Writer.hasPrimaryKey("t0", c.Table, key, sw.addConstant)
	return fill(`SELECT {selected} FROM {table} AS t0 WHERE {condition}`, "selected", strings.Join(selected, ", "),
		"table", quoteTable(c.Table.Name), "condition", condition), sw.constants
}

func (c *Cells) text(sw *stepWriter, condition string) string {
	var selected []string
	for _, name := range c.Table.PrimaryKey {
		selected = append(selected, "CAST(t0."+Quote(name)+" AS text)")
	}
	for i, name := range c.Columns() {
		cell := "CAST(t0." + Quote(name) + " AS text)"
		if i >= len(c.Step.Columns)+len(c.Step.ClearedColumns) {
			cell = "CASE WHEN " + sw.isOverwritten(name, c.Step) + " THEN " + cell + " END"
		}
		selected = append(selected, cell, "COALESCE("+c.equalsWritten(sw, name)+", FALSE)")
	}
	for _, name := range c.Others {
		text := c.Writer.Dialect.heldText("t0." + Quote(name))
		size := c.Writer.Dialect.byteLength(text)
		selected = append(selected, fill(`CASE WHEN {size} <= {max} THEN {text} END, COALESCE({size} > {max}, FALSE)`,
			"size", size, "max", strconv.Itoa(maxReadCell), "text", text))
	}
	return fill(`SELECT {cells} FROM {table} AS t0 WHERE {condition}`,
		"cells", strings.Join(selected, ", "), "table", quoteTable(c.Table.Name), "condition", condition)
}

// equalsWritten returns the condition that a cell holds the constant that the step writes. It returns FALSE if the step
// writes no constant.
func (c *Cells) equalsWritten(sw *stepWriter, column string) string {
	dialect := c.Writer.Dialect
	if value, rectified := c.Values[column]; rectified {
		return dialect.equalsConstant("t0."+Quote(column), sw.addConstant(parameterOf(dialect, value)), sw.types[column])
	}
	described, _ := c.Table.Column(column)
	switch {
	case slices.Contains(c.Step.ClearedColumns, column): // a cleared cell is NULL
		return "FALSE"
	case isText(described) && described.Surrogate == "" || IsNulled(described) || described.Digits() > 0:
		return "FALSE"
	}
	return dialect.equalsConstant("t0."+Quote(column), sw.surrogate(column), sw.types[column])
}

func isText(column datamap.Column) bool {
	return column.Type == datamap.TypeText || column.Type == datamap.TypeUUID
}
