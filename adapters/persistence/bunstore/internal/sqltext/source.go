package sqltext

import (
	"cmp"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// source is a table that an export statement reads, with the expressions of its values.
type source struct {
	table        domain.Table
	namedByKey   bool // the name of a row in an export is its primary key
	exported     []domain.Column
	records      []domain.ExportRecord // for each exported column: the fields that are the same in all rows
	sinceIndexes []int                 // for each exported column: the index of the value with its retention start, or -1

	selected      []string                // the expressions of the values
	fromClause    func(offset int) string // the clauses from FROM on; their placeholders start at $(offset+1)
	keyParameters int                     // the number of parameters for the subject's key; 0 for a ledger

	// If a table has several paths (chains of references to the subject), the field paths lists them, and pathValues
	// returns one expression for each path. The value of an expression is not NULL if its path leads from the row to the
	// subject.
	paths      []domain.Path
	pathValues func(offset int) []string
}

// newSource returns the source of a table. Its values are the primary key as texts, the exported columns, and the
// columns with the start of a retention duty.
func newSource(dialect Dialect, table domain.Table, exported []domain.Column) source {
	s := source{
		table: table, namedByKey: table.NamesRowsByKey(), exported: exported, pathValues: func(int) []string { return nil },
	}
	for _, name := range table.PrimaryKey {
		s.selected = append(s.selected, "CAST(t0."+Quote(name)+" AS text)")
	}
	for _, column := range s.exported {
		s.selected = append(s.selected, dialect.exportedValue(column))
		s.records = append(s.records, domain.ExportRecord{
			Source:          table.Name,
			Field:           column.Name,
			Category:        column.Personal.Category,
			LegalBasis:      Optional(column.Personal.Basis),
			Purpose:         Optional(column.Personal.Purpose),
			RetentionReason: Optional(column.Personal.Reason),
		})
	}
	for _, column := range s.exported {
		since, ok := table.Column(column.Personal.Since)
		if !ok {
			s.sinceIndexes = append(s.sinceIndexes, -1)
			continue
		}
		s.sinceIndexes = append(s.sinceIndexes, len(s.selected))
		s.selected = append(s.selected, dialect.exportedValue(since))
	}
	return s
}

// restrictByPath sets the fields paths and pathValues if the table has several paths (chains of references to the
// subject). An export then contains only the cells of a row that belong to the subject.
func (s *source) restrictByPath(w *Writer) {
	paths := w.DataMap.Paths(s.table.Name)
	if len(paths) == 1 || len(s.table.Personal()) == 0 { // without personal data, cells belong to every path
		return
	}
	s.paths = paths
	s.pathValues = func(offset int) []string {
		values := make([]string, len(paths))
		for i, path := range paths {
			values[i] = "CASE WHEN " + w.rowsOf(s.table, path, offset) + " THEN 'yes' END"
		}
		return values
	}
}

// belongsToSubject reports whether the cell of a column belongs to the subject. The parameter values holds the values
// of the row.
func (s *source) belongsToSubject(column domain.Column, values []any) bool {
	if len(s.paths) == 0 {
		return true
	}
	pathValues := values[len(s.selected):]
	for i, path := range s.paths {
		if pathValues[i] != nil && path.Has(column) {
			return true
		}
	}
	return false
}

// ExportRow holds a scanned result row of an export statement.
type ExportRow struct {
	Source  int
	Values  []any
	Targets []any // the scan targets: pointers to Source, the position, and each of Values

	countedSource int // the source of the last row that countRow has counted
	rowNumber     int // the number of the row within its source, from 1 on
}

// countRow sets rowNumber. It must be called once for each result row.
func (r *ExportRow) countRow() {
	if r.countedSource != r.Source {
		r.countedSource, r.rowNumber = r.Source, 0
	}
	r.rowNumber++
}

// NewRow returns an ExportRow. Callers scan all rows of a result into the same ExportRow.
func (e *Export) NewRow() *ExportRow {
	row := &ExportRow{Values: make([]any, e.width)}
	var position int64 // only ORDER BY needs it
	row.Targets = append(row.Targets, &row.Source, &position)
	for i := range row.Values {
		row.Targets = append(row.Targets, &row.Values[i])
	}
	return row
}

// WasErased reports whether the subject was erased before. The parameter row is the row of preconditions (the first row
// of an export).
func (e *Export) WasErased(row *ExportRow) bool {
	return row.Values[len(e.sources[0].selected)-1] != nil
}

// Yield calls yield with one record for each exported column of the row. The parameter wasErased is the result of
// WasErased.
func (e *Export) Yield(row *ExportRow, wasErased bool, yield func(domain.ExportRecord) error) error {
	s := &e.sources[row.Source]
	row.countRow()
	if !wasErased || s.keyParameters == 0 { // an erasure does not change a ledger
		return s.yield(e.dialect, row, yield)
	}
	var records []domain.ExportRecord
	if err := s.yield(e.dialect, row, func(record domain.ExportRecord) error {
		records = append(records, record)
		return nil
	}); err != nil {
		return err
	}
	e.dataMap.MarkErased(s.table, e.pathsToSubject(s, row.Values), records)
	for _, record := range records {
		if err := yield(record); err != nil {
			return err
		}
	}
	return nil
}

// pathsToSubject returns the paths (chains of references) of the source that lead from the row with the given values to
// the subject.
func (e *Export) pathsToSubject(s *source, values []any) []domain.Path {
	if len(s.paths) == 0 {
		return e.dataMap.Paths(s.table.Name)
	}
	var leading []domain.Path
	for i, path := range s.paths {
		if values[len(s.selected)+i] != nil {
			leading = append(leading, path)
		}
	}
	return leading
}

// rowName returns the name of the row in the export: its primary key, or its number. NULL in the key is named NULL. The
// name is never empty, because a correction without a row name applies to all rows of the table.
func (s *source) rowName(row *ExportRow) string {
	if !s.namedByKey {
		return strconv.Itoa(row.rowNumber)
	}
	key := make([]string, len(s.table.PrimaryKey))
	for i := range key {
		key[i] = "NULL"
		if row.Values[i] != nil {
			key[i] = Text(row.Values[i])
		}
	}
	return cmp.Or(domain.CanonicalTuple(key), `""`)
}

func (s *source) yield(dialect Dialect, row *ExportRow, yield func(domain.ExportRecord) error) error {
	name, values := s.rowName(row), row.Values
	for i, column := range s.exported {
		if !s.belongsToSubject(column, values) {
			continue
		}
		record := s.records[i]
		record.Row, record.Value = name, Value(dialect, column.Type, values[len(s.table.PrimaryKey)+i])
		if s.sinceIndexes[i] >= 0 {
			if since, ok := Value(dialect, domain.TypeTime, values[s.sinceIndexes[i]]).(time.Time); ok {
				record.ExpiresAt = Optional(domain.Instant(column.Personal.Retain.After(since)))
			}
		}
		if err := yield(record); err != nil {
			return err
		}
	}
	return nil
}

// Optional returns nil for the zero value, and otherwise a pointer to the value.
func Optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
