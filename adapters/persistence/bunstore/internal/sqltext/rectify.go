package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// timeFormat is how bun writes instants, which the columns of either database take, whether they are times or texts.
const timeFormat = "2006-01-02 15:04:05.999999-07:00"

// Correct is the statement that writes values into the rows that a path leads from to the subject with a key, or into
// one of them: that with the primary key row, unless it is nil.
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

// argumentOf is a value of a domain.ColumnValue as a parameter of a statement.
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

// argument is a text of what is none: a driver sends it as it is, and the server reads it by the type of the column,
// which may be another than the Go type's (an int kept in a varchar).
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

// argument leaves a value as it is: SQLite would not read a text, and converts Go's values by the affinity of the
// column.
func (sqlite) argument(value any) any { return value }

// ReadBack is a value of a domain.ColumnValue as a driver returns it once it is stored: the text form where drivers
// differ.
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

// jSON is the document.
func (postgres) jSON(document string) any { return document }

// jSON makes a number of a document that is one: the affinity of a JSON column is NUMERIC.
func (sqlite) jSON(document string) any {
	if n, err := strconv.ParseFloat(document, 64); err == nil {
		return n
	}
	return document
}
