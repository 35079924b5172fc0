package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// timeFormat is the format in which bun writes instants. Time columns and text columns of both databases accept it.
const timeFormat = "2006-01-02 15:04:05.999999-07:00"

// Correct returns the statement that writes values into the rows from which a path leads to the subject. The parameter
// key is the subject's key. If row is not nil, the statement changes only the row with this primary key.
func (w *Writer) Correct(
	table datamap.Table, path datamap.Path, row []string, values []domain.ColumnValue, key []any,
) (text string, args []any) {
	args = slices.Clone(key)
	add := func(value any) string {
		args = append(args, value)
		return placeholder(len(args))
	}
	assignments := make([]string, len(values))
	for i, value := range values {
		assignments[i] = Quote(value.Column) + " = " + add(parameterOf(w.Dialect, value.Value))
	}
	target, name := w.Dialect.changedTable(table.Name)
	concerned := ""
	if row != nil {
		concerned = " AND " + w.hasPrimaryKey(name, table, row, add)
	}
	return fill(overwriteRows, "target", target, "assignments", strings.Join(assignments, ", "),
		"rows", w.pathCondition(name, 0, table, path.Relations, 0), "concerned", concerned), args
}

// parameterOf converts the value of a domain.ColumnValue to a parameter of a statement.
func parameterOf(d Dialect, value any) any {
	switch value := value.(type) {
	case time.Time:
		return value.UTC().Format(timeFormat)
	case domain.Number:
		return string(value)
	case domain.JSON:
		return string(value)
	default:
		return d.parameterValue(value)
	}
}

// parameterValue converts a value to a text. A driver sends a text unchanged, and the server parses the text by the
// type of the column. The type of the column may differ from the Go type. For example, a varchar column may hold
// integers.
func (postgres) parameterValue(value any) any {
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

// parameterValue returns the value unchanged, because SQLite would store the text 'true' as a text, even in a column of
// the type BOOLEAN.
func (sqlite) parameterValue(value any) any { return value }

// ReadBack returns the value of a domain.ColumnValue in the form in which a driver returns the stored value. If drivers
// return different forms, ReadBack returns the text of the value.
func ReadBack(d Dialect, column datamap.Column, value any) any {
	switch value := value.(type) {
	case int64:
		if column.Type == datamap.TypeNumber {
			return Text(value)
		}
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case domain.Number:
		return string(value)
	case domain.JSON:
		return d.storedJSON(string(value))
	default:
		return value
	}
}

func (postgres) storedJSON(document string) any { return document }

// storedJSON returns a number if the document is a number, because a JSON column has the affinity NUMERIC in SQLite.
func (sqlite) storedJSON(document string) any {
	if n, err := strconv.ParseFloat(document, 64); err == nil {
		return n
	}
	return document
}
