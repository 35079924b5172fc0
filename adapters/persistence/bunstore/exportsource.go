package bunstore

import (
	"time"

	"github.com/habeas-data/habeas/domain"
)

// source is one table in an export.
type source struct {
	table    domain.Table
	personal []domain.Column
	records  []domain.ExportRecord // for each of them, what is the same in all rows
	since    []int                 // for each of them, which value its retention counts from; -1 for none

	selected []string                // the expressions that give its values
	from     func(others int) string // what follows them in a statement; others is how many parameters precede
	keys     int                     // how many of its parameters are the subject's key; 0 for a ledger, which has the id
}

// newSource selects the primary key as texts, the annotated columns, and the columns from which retention counts.
func newSource(dialect sqlDialect, table domain.Table) source {
	s := source{table: table, personal: table.Personal()}
	for _, name := range table.PrimaryKey {
		s.selected = append(s.selected, "CAST(t0."+quote(name)+" AS text)")
	}
	for _, column := range s.personal {
		s.selected = append(s.selected, dialect.exported(column))
		s.records = append(s.records, domain.ExportRecord{
			Source:          table.Name,
			Field:           column.Name,
			Category:        column.Personal.Category,
			LegalBasis:      optional(column.Personal.Basis),
			Purpose:         optional(column.Personal.Purpose),
			RetentionReason: optional(column.Personal.Reason),
		})
	}
	for _, column := range s.personal {
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

// exportRow is what one row of the statement is read into.
type exportRow struct {
	source  int
	values  []any
	targets []any // pointers to all of it
}

func (e export) newRow() *exportRow {
	row := &exportRow{values: make([]any, e.width)}
	var position int64 // has done its work in the ORDER BY
	row.targets = append(row.targets, &row.source, &position)
	for i := range row.values {
		row.targets = append(row.targets, &row.values[i])
	}
	return row
}

// yield yields one record per annotated column.
func (s source) yield(dialect sqlDialect, values []any, yield func(domain.ExportRecord) error) error {
	key := make([]string, len(s.table.PrimaryKey))
	for i := range key {
		key[i] = textOf(values[i])
	}
	row := domain.CanonicalTuple(key)
	for i, column := range s.personal {
		record := s.records[i]
		record.Row, record.Value = row, exportValue(dialect, column.Type, values[len(key)+i])
		if s.since[i] >= 0 {
			if since, ok := exportValue(dialect, domain.TypeTime, values[s.since[i]]).(time.Time); ok {
				record.ExpiresAt = optional(domain.Instant(column.Personal.Retain.After(since)))
			}
		}
		if err := yield(record); err != nil {
			return err
		}
	}
	return nil
}

// optional is nil for the zero value.
func optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
