package bunstore

import (
	"database/sql"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// tableExport reads the annotated columns of one table, for one subject.
type tableExport struct {
	table    domain.Table
	personal []domain.Column
	since    []int // for each of them, which value its retention counts from; -1 for none
	text     string
	values   []any // of one row: the primary key as texts, the annotated columns, the since columns
	targets  []any // pointers to values
}

func newTableExport(store *Store, table domain.Table) *tableExport {
	e := &tableExport{table: table, personal: table.Personal()}
	var selected []string
	for _, name := range table.PrimaryKey {
		selected = append(selected, "CAST(t0."+quote(name)+" AS text)")
	}
	for _, column := range e.personal {
		selected = append(selected, store.dialect.exported(column))
	}
	for _, column := range e.personal {
		if column.Personal.Since == "" {
			e.since = append(e.since, -1)
			continue
		}
		e.since = append(e.since, len(selected))
		selected = append(selected, "t0."+quote(column.Personal.Since))
	}
	e.text = "SELECT " + strings.Join(selected, ", ") + " FROM " + quoteTable(table.Name) + " AS t0 WHERE " +
		store.rowsOf(table, 0) + " ORDER BY " + list("t0", table.PrimaryKey)
	e.values = make([]any, len(selected))
	for i := range e.values {
		e.targets = append(e.targets, &e.values[i])
	}
	return e
}

// row yields one record per annotated column.
func (e *tableExport) row(rows *sql.Rows, yield func(domain.ExportRecord) error) error {
	if err := rows.Scan(e.targets...); err != nil {
		return err
	}
	key := make([]string, len(e.table.PrimaryKey))
	for i := range key {
		key[i] = textOf(e.values[i])
	}
	row := domain.CanonicalTuple(key)
	for i, column := range e.personal {
		annotation := column.Personal
		record := domain.ExportRecord{
			Source:          e.table.Name,
			Field:           column.Name,
			Row:             row,
			Category:        annotation.Category,
			Value:           exportValue(column.Type, e.values[len(key)+i]),
			LegalBasis:      optional(annotation.Basis),
			Purpose:         optional(annotation.Purpose),
			RetentionReason: optional(annotation.Reason),
		}
		if e.since[i] >= 0 {
			if since, ok := asTime(e.values[e.since[i]]).(time.Time); ok {
				record.ExpiresAt = optional(domain.Instant(annotation.Retain.After(since)))
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
