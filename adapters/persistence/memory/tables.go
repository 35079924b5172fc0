package memory

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Row is a row of a table of the application. It maps the names of columns to values. nil means NULL. Any other value
// must have a Go type that fits the type of the column:
//
//	text, uuid (in lower case)   string, of no more characters than the column's Length
//	smallint, integer, bigint    int64, or an int, which is stored as int64
//	number                       float64, int64 or domain.Number; finite
//	boolean                      bool
//	time                         time.Time, which is stored in UTC and truncated to microseconds; or a date or a time
//	                             without a zone, as a string such as "2026-01-02" or "2026-01-02T03:04:05"
//	json, array                  domain.JSON
//	bytes                        []byte
//
// If the data map gives no type for a column, the column accepts values of all these types.
type Row = map[string]any

// Insert adds a copy of the row to a table of the application, and commits immediately. It does not use the ports. A
// column that the row does not contain is NULL.
//
// Insert returns these errors:
//
//   - domain.ErrManifest if the data map does not contain the table or a column
//   - domain.ErrInvalid, with the column as the field, if a value does not fit the type of its column, or if a column
//     of the primary key is NULL
//   - domain.ErrConflict if a row with the same primary key exists, or if the row refers to a row that does not exist
//
// Insert does not check references by relations that have a condition, or references to tables outside the data map.
//
// Insert waits while a session holds the write lock. The function of such a session must not call Insert, because
// Insert would wait forever.
func (s *Store) Insert(table string, row Row) error {
	ctx := context.Background()
	session := &session{store: s, unchecked: true}
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

// Rows returns copies of all committed rows of a table of the application, in the order of their primary keys. It
// returns domain.ErrManifest if the data map does not contain the table.
func (s *Store) Rows(table string) ([]Row, error) {
	described, ok := s.dataMap.Table(table)
	if !ok {
		return nil, manifestError("rows of "+table, "the data map has no such table")
	}
	committed := s.newest().rows[table]
	rows := make([]Row, len(committed))
	for i, index := range sortedIndexes(described, committed, indexes(committed)) {
		rows[i] = cloneRow(committed[index])
	}
	return rows, nil
}

// insert checks a row and adds a copy of the row to a table.
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
				Field: column.Name, Code: domain.FieldType, Message: "must have the Go type that memory.Row names for its column",
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
	if len(s.rowsWith(name, table.PrimaryKey, tuplesOf([]Row{stored}, table.PrimaryKey))) > 0 {
		return conflict(op, "a row with that primary key already exists")
	}
	return s.add(table, stored)
}
