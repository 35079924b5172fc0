package sqltext

import (
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// CountRetained returns the statement that counts the rows that a retain step covers, for the subject with a key.
func (w *Writer) CountRetained(live Live, step domain.Step, key []any) (text string, args []any) {
	table, _ := w.DataMap.Table(step.Target)
	path, _ := w.DataMap.PathVia(step.Target, step.Via)
	sw := w.stepWriter(table, live.Types(table.Name), len(w.DataMap.SubjectTable().SubjectKey))
	text = fill(`SELECT count(*) FROM {table} AS t0 WHERE {rows}{concerned}`,
		"table", quoteTable(table.Name), "rows", w.rowsOf(table, path, 0), "concerned", sw.concerned(step))
	return text, slices.Concat(key, constantsAt(sw.constants, step.At))
}

// Cells writes the statements that read the cells of a step. A row of a result is the primary key as texts. For each
// column, the text of the cell and a boolean follow. The boolean is true if the cell holds the constant that the step
// writes.
type Cells struct {
	Writer *Writer
	Table  domain.Table
	Step   domain.Step
	Values map[string]any // the values that a rectification writes, by column; nil for an erasure
	Row    []string       // the primary key of the only row of the step; nil for all rows of the subject
	Live   Live
	Until  time.Time // include only rows added until then, reached over such rows; zero for all rows
}

// Columns returns the columns of the step whose cells are read.
func (c *Cells) Columns() []string {
	if c.Step.Strategy != domain.StrategyAnonymize {
		return nil
	}
	return slices.Concat(c.Step.Columns, c.Step.Clears, c.Step.Expired)
}

// OfSubject returns the statement for the rows that lead to the subject with a key. If writtenHere is true, it includes
// only rows that this transaction has written.
func (c *Cells) OfSubject(key []any, writtenHere bool) (text string, args []any) {
	sw := c.Writer.stepWriter(c.Table, c.Live.Types(c.Table.Name), len(c.Writer.DataMap.SubjectTable().SubjectKey))
	path, _ := c.Writer.DataMap.PathVia(c.Step.Target, c.Step.Via)
	condition := c.Writer.until(sw, c.Live, c.Until).rowsOf(c.Table, path, 0) + sw.concerned(c.Step)
	if c.Row != nil {
		condition += " AND " + c.Writer.isRow("t0", c.Table, c.Row, sw.constant)
	}
	if writtenHere {
		condition += " AND " + c.Writer.Dialect.writtenHere()
	}
	text = c.text(sw, condition)
	return text, slices.Concat(key, constantsAt(sw.constants, c.Step.At))
}

// WithKeys returns the statement for the rows with the given primary keys, whether or not they lead to the subject.
func (c *Cells) WithKeys(keys [][]string) (text string, args []any) {
	sw := c.Writer.stepWriter(c.Table, c.Live.Types(c.Table.Name), 0)
	alternatives := make([]string, len(keys))
	for i, key := range keys {
		comparisons := make([]string, len(key))
		for j, name := range c.Table.PrimaryKey {
			comparisons[j] = "t0." + Quote(name) + " = " + sw.constant(key[j])
		}
		alternatives[i] = "(" + strings.Join(comparisons, " AND ") + ")"
	}
	text = c.text(sw, "("+strings.Join(alternatives, " OR ")+")")
	return text, constantsAt(sw.constants, c.Step.At)
}

func (c *Cells) text(sw *stepWriter, condition string) string {
	var selected []string
	for _, name := range c.Table.PrimaryKey {
		selected = append(selected, "CAST(t0."+Quote(name)+" AS text)")
	}
	for i, name := range c.Columns() {
		cell := "CAST(t0." + Quote(name) + " AS text)"
		if i >= len(c.Step.Columns)+len(c.Step.Clears) {
			cell = "CASE WHEN " + sw.goes(name, c.Step) + " THEN " + cell + " END"
		}
		selected = append(selected, cell, "COALESCE("+c.isWritten(sw, name)+", FALSE)")
	}
	return fill(`SELECT {cells} FROM {table} AS t0 WHERE {condition}`,
		"cells", strings.Join(selected, ", "), "table", quoteTable(c.Table.Name), "condition", condition)
}

// isWritten returns the condition that a column holds the constant that the step writes. It is FALSE if the step writes
// no constant.
func (c *Cells) isWritten(sw *stepWriter, name string) string {
	dialect := c.Writer.Dialect
	if value, corrected := c.Values[name]; corrected {
		return dialect.isConstant("t0."+Quote(name), sw.constant(argumentOf(dialect, value)), sw.types[name])
	}
	column, _ := c.Table.Column(name)
	switch {
	case slices.Contains(c.Step.Clears, name): // a cleared cell is NULL
		return "FALSE"
	case isText(column) && column.Surrogate == "" || IsNulled(column) || column.Digits() > 0:
		return "FALSE"
	}
	return dialect.isConstant("t0."+Quote(name), sw.surrogate(name), sw.types[name])
}

func isText(column domain.Column) bool {
	return column.Type == domain.TypeText || column.Type == domain.TypeUUID
}
