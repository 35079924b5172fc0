package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// timeFormat is the format in which bun writes instants. Time columns and text columns of either database accept it.
const timeFormat = "2006-01-02 15:04:05.999999-07:00"

// Correct returns the statement that writes values into the rows from which a path leads to the subject with a key. If
// row is not nil, the statement changes only the row with that primary key.
func (w *Writer) Correct(
	table domain.Table, path domain.Path, row []string, values []domain.ColumnValue, key []any,
) (text string, args []any) {
	args = slices.Clone(key)
	add := func(value any) string {
		args = append(args, value)
		return parameter(len(args))
	}
	assignments := make([]string, len(values))
	for i, value := range values {
		assignments[i] = Quote(value.Column) + " = " + add(argumentOf(w.Dialect, value.Value))
	}
	target, name := w.Dialect.written(table.Name)
	concerned := ""
	if row != nil {
		concerned = " AND " + w.isRow(name, table, row, add)
	}
	return fill(overwriteRows, "target", target, "assignments", strings.Join(assignments, ", "),
		"rows", w.condition(name, 0, table, path.Relations, 0), "concerned", concerned), args
}

// argumentOf converts a value of a domain.ColumnValue to a parameter of a statement.
func argumentOf(d Dialect, value any) any {
	switch value := value.(type) {
	case time.Time:
		return value.UTC().Format(timeFormat)
	case domain.Number:
		return string(value)
	case domain.JSON:
		return string(value)
	default:
		return d.argument(value)
	}
}

// argument converts a value to text. A driver sends a text unchanged, and the server parses it by the type of the
// column. That type may differ from the Go type, such as an int in a varchar column.
func (postgres) argument(value any) any {
	switch value := value.(type) {
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(value)
	default:
		return value
	}
}

// argument returns the value unchanged. SQLite would not parse a text, but converts Go's values by the affinity of the
// column.
func (sqlite) argument(value any) any { return value }

// ReadBack returns the value of a domain.ColumnValue in the form in which a driver returns it after it is stored. It is
// the text form if drivers differ.
func ReadBack(d Dialect, column domain.Column, value any) any {
	switch value := value.(type) {
	case int64:
		if column.Type == domain.TypeNumber {
			return Text(value)
		}
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case domain.Number:
		return string(value)
	case domain.JSON:
		return d.jSON(string(value))
	default:
		return value
	}
}

// jSON returns the document.
func (postgres) jSON(document string) any { return document }

// jSON returns a number if the document is a number, because a JSON column has the affinity NUMERIC.
func (sqlite) jSON(document string) any {
	if n, err := strconv.ParseFloat(document, 64); err == nil {
		return n
	}
	return document
}
