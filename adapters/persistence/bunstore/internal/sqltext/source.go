package sqltext

import (
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// source is one table of an export.
type source struct {
	table    domain.Table
	named    bool // an export names its rows by their primary key
	exported []domain.Column
	records  []domain.ExportRecord // one per exported column: the fields that are the same in all rows
	since    []int                 // one per exported column: the index of the value that its retention counts from, or -1

	selected []string                // the expressions of its values
	from     func(others int) string // the rest of the statement; others is the number of preceding parameters
	keys     int                     // the number of parameters for the subject's key; 0 for a ledger, which takes the id

	// If a table has several paths, paths lists them, and leads returns one more expression for each path. The value of
	// the expression is not NULL if the path leads from the row to the subject.
	paths []domain.Path
	leads func(others int) []string
}

// newSource returns the source of a table. The source selects the primary key as texts, the exported columns, and the
// columns that hold the start of a retention duty.
func newSource(dialect Dialect, table domain.Table, exported []domain.Column) source {
	s := source{
		table: table, named: table.NamesRowsByKey(), exported: exported, leads: func(int) []string { return nil },
	}
	for _, name := range table.PrimaryKey {
		s.selected = append(s.selected, "CAST(t0."+Quote(name)+" AS text)")
	}
	for _, column := range s.exported {
		s.selected = append(s.selected, dialect.exported(column))
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
			s.since = append(s.since, -1)
			continue
		}
		s.since = append(s.since, len(s.selected))
		s.selected = append(s.selected, dialect.exported(since))
	}
	return s
}

// divide restricts the exported cells of each row to the part that belongs to the subject, if the table has several
// paths.
func (s *source) divide(w *Writer) {
	paths := w.DataMap.Paths(s.table.Name)
	if len(paths) == 1 || len(s.table.Personal()) == 0 { // only keys, which belong to every path
		return
	}
	s.paths = paths
	s.leads = func(others int) []string {
		leads := make([]string, len(paths))
		for i, path := range paths {
			leads[i] = "CASE WHEN " + w.rowsOf(s.table, path, others) + " THEN 'yes' END"
		}
		return leads
	}
}

// isTheirs reports whether the cell of a column belongs to the subject.
func (s *source) isTheirs(column domain.Column, values []any) bool {
	if len(s.paths) == 0 {
		return true
	}
	leads := values[len(s.selected):]
	for i, path := range s.paths {
		if leads[i] != nil && path.Has(column) {
			return true
		}
	}
	return false
}

// ExportRow holds a scanned row of an export statement.
type ExportRow struct {
	Source  int
	Values  []any
	Targets []any // pointers to Source, the position and Values

	counted, number int // the source of the counted rows, and their number
}

// count numbers the row within its source, from 1 on.
func (r *ExportRow) count() {
	if r.counted != r.Source {
		r.counted, r.number = r.Source, 0
	}
	r.number++
}

// NewRow returns a row that is reused for all rows of a result.
func (e *Export) NewRow() *ExportRow {
	row := &ExportRow{Values: make([]any, e.width)}
	var position int64 // only used by ORDER BY
	row.Targets = append(row.Targets, &row.Source, &position)
	for i := range row.Values {
		row.Targets = append(row.Targets, &row.Values[i])
	}
	return row
}

// WasErased reports whether the subject was erased before, according to the row of a sight.
func (e *Export) WasErased(sight *ExportRow) bool {
	return sight.Values[len(e.sources[0].selected)-1] != nil
}

// Yield calls yield with one record per exported column. erased says whether the subject was erased before.
func (e *Export) Yield(row *ExportRow, erased bool, yield func(domain.ExportRecord) error) error {
	s := &e.sources[row.Source]
	row.count()
	if !erased || s.keys == 0 { // an erasure does not change a ledger
		return s.yield(e.dialect, row, yield)
	}
	var records []domain.ExportRecord
	if err := s.yield(e.dialect, row, func(record domain.ExportRecord) error {
		records = append(records, record)
		return nil
	}); err != nil {
		return err
	}
	e.dataMap.MarkErased(s.table, e.leading(s, row.Values), records)
	for _, record := range records {
		if err := yield(record); err != nil {
			return err
		}
	}
	return nil
}

// leading returns the paths that lead from a row to the subject.
func (e *Export) leading(s *source, values []any) []domain.Path {
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

// nameOf returns the name of a row in the export.
func (s *source) nameOf(row *ExportRow) string {
	if !s.named {
		return strconv.Itoa(row.number)
	}
	key := make([]string, len(s.table.PrimaryKey))
	for i := range key {
		key[i] = Text(row.Values[i])
	}
	return domain.CanonicalTuple(key)
}

func (s *source) yield(dialect Dialect, row *ExportRow, yield func(domain.ExportRecord) error) error {
	name, values := s.nameOf(row), row.Values
	for i, column := range s.exported {
		if !s.isTheirs(column, values) {
			continue
		}
		record := s.records[i]
		record.Row, record.Value = name, Value(dialect, column.Type, values[len(s.table.PrimaryKey)+i])
		if s.since[i] >= 0 {
			if since, ok := Value(dialect, domain.TypeTime, values[s.since[i]]).(time.Time); ok {
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
