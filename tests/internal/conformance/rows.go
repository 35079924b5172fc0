package conformance

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports/porttest"
)

// shop reads and writes the tables of the application with plain SQL, as an application does. It uses other connections
// than the store under test.
type shop struct {
	db      *sql.DB
	dataMap datamap.DataMap
}

func (s shop) table(t testing.TB, name string) datamap.Table {
	t.Helper()
	table, ok := s.dataMap.Table(name)
	if !ok {
		t.Fatalf("the data map has no table %s", name)
	}
	return table
}

// insert inserts a row and commits. Columns that are missing in row are NULL.
func (s shop) insert(t testing.TB, name string, row porttest.Row) {
	t.Helper()
	table := s.table(t, name)
	var columns, places []string
	var args []any
	for _, column := range table.Columns {
		value, ok := row[column.Name]
		if !ok {
			continue
		}
		args = append(args, stored(value))
		columns = append(columns, column.Name)
		places = append(places, "$"+strconv.Itoa(len(args)))
	}
	if len(columns) != len(row) {
		t.Fatalf("the data map does not have all columns of the row that table %s is to have", name)
	}
	_, err := s.db.ExecContext(t.Context(),
		"INSERT INTO "+quote(name)+" ("+quoteAll(columns)+") VALUES ("+strings.Join(places, ", ")+")", args...)
	must(t, err)
}

// stored converts a value into the form that bun stores. Instants and JSON documents become texts.
func stored(value any) any {
	switch value := value.(type) {
	case time.Time:
		return value.UTC().Format("2006-01-02 15:04:05.999999-07:00")
	case domain.JSON:
		return string(value)
	default:
		return value
	}
}

// rows returns the rows of a table, ordered by the primary key.
func (s shop) rows(t testing.TB, name string) []porttest.Row {
	t.Helper()
	table := s.table(t, name)
	columns := slices.Collect(func(yield func(string) bool) {
		for _, column := range table.Columns {
			if !yield(column.Name) {
				return
			}
		}
	})
	found, err := s.db.QueryContext(t.Context(),
		"SELECT "+quoteAll(columns)+" FROM "+quote(name)+" ORDER BY "+quoteAll(table.PrimaryKey))
	must(t, err)
	defer found.Close()
	var rows []porttest.Row
	for found.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		must(t, found.Scan(targets...))
		row := porttest.Row{}
		for i, column := range table.Columns {
			row[column.Name] = read(t, column, values[i])
		}
		rows = append(rows, row)
	}
	must(t, found.Err())
	return rows
}

// read converts a value from a database driver into the Go type that a porttest.Row has for the column.
func read(t testing.TB, column datamap.Column, value any) any {
	t.Helper()
	text := ""
	switch value := value.(type) {
	case nil:
		return nil
	case time.Time:
		return value.UTC().Truncate(time.Microsecond)
	case []byte:
		text = string(value)
	default:
		text = fmt.Sprint(value)
	}
	var typed any
	var err error
	switch column.Type { //nolint:exhaustive // texts and UUIDs need no conversion
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt:
		typed, err = strconv.ParseInt(text, 10, 64)
	case datamap.TypeNumber:
		typed, err = strconv.ParseFloat(text, 64)
	case datamap.TypeBoolean:
		typed, err = strconv.ParseBool(text)
	case datamap.TypeTime: // if a driver of SQLite does not recognize the type
		err = fmt.Errorf("it is no time")
	case datamap.TypeJSON:
		typed = domain.JSON(text)
		if !json.Valid([]byte(text)) {
			err = fmt.Errorf("it is no JSON")
		}
	case datamap.TypeBytes:
		typed = []byte(text)
	default:
		typed = text
	}
	if err != nil {
		t.Fatalf("column %s holds a %T which the application cannot read: %v", column.Name, value, err)
	}
	return typed
}
