package memory

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Row is a row of one of the application's tables, by column. A value is nil for NULL, or has the Go type for the type
// of its column:
//
//	text, uuid (in lower case)   string, of no more characters than the column's Length
//	smallint, integer, bigint    int64, or an int, which is kept as int64
//	number                       float64, int64 or domain.Number; finite
//	boolean                      bool
//	time                         time.Time, which is kept in UTC and whole microseconds
//	json, array                  domain.JSON
//	bytes                        []byte
//
// A column whose type the data map leaves open takes any of them.
type Row = map[string]any

// Insert adds a row to one of the application's tables, past the ports and committed at once. A column that is left out
// is NULL; the row stays the caller's.
//
// A table or a column that is not in the data map is domain.ErrManifest, a value that is not of its column's type
// domain.ErrInvalid with the column as the field. A row whose primary key is there already, or that refers to a row
// which is not there, is domain.ErrConflict; relations to tables outside the data map are not looked at.
//
// It waits while a session has the write lock, so whoever is inside such a session must not call it.
func (s *Store) Insert(table string, row Row) error {
	ctx := context.Background()
	session := &session{store: s}
	defer session.end()
	state, err := session.write(ctx)
	if err != nil {
		return err
	}
	if err := state.insert(table, row); err != nil {
		return err
	}
	return session.commit(ctx)
}

// Rows returns copies of all rows of one of the application's tables, by primary key, as they are committed. A table
// that is not in the data map is domain.ErrManifest.
func (s *Store) Rows(table string) ([]Row, error) {
	described, ok := s.dataMap.Table(table)
	if !ok {
		return nil, manifestError("rows of "+table, "the data map has no such table")
	}
	committed := s.committed.Load().rows[table]
	rows := make([]Row, len(committed))
	for i, position := range sorted(described, committed, positions(committed)) {
		rows[i] = cloneRow(committed[position])
	}
	return rows, nil
}

// insert checks a row and adds a copy of it.
func (s *state) insert(name string, row Row) error {
	op := "insert into " + name
	table, ok := s.dataMap.Table(name)
	if !ok {
		return manifestError(op, "the data map has no such table")
	}
	stored := Row{}
	for _, column := range table.Columns {
		if stored[column.Name], ok = storable(column, row[column.Name]); !ok {
			return domain.Invalid(op, []domain.FieldError{{
				Field: column.Name, Code: domain.FieldType, Message: "must be what memory.Row asks for in such a column",
			}})
		}
	}
	for column := range row {
		if _, ok := stored[column]; !ok {
			return manifestError(op, "the data map has no column "+column)
		}
	}
	for _, column := range table.PrimaryKey {
		if stored[column] == nil {
			return domain.Invalid(op, []domain.FieldError{{
				Field: column, Code: domain.FieldRequired, Message: "is in the primary key and must not be null",
			}})
		}
	}
	if len(s.linked(name, table.PrimaryKey, linksOf([]Row{stored}, table.PrimaryKey))) > 0 {
		return conflict(op, "a row with that primary key is there already")
	}
	return s.add(table, stored)
}
