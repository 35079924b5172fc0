package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Export implements ports.SubjectStore. All tables are read by one statement, which sees one snapshot without a
// transaction around it.
func (s subjectStore) Export(
	ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error,
) error {
	key, err := s.store.dataMap.Key(id)
	if err != nil {
		return err
	}
	if err := s.usable(); err != nil {
		return err
	}
	if s.tx != nil && !s.joined {
		return &domain.Error{Code: domain.ErrSession, Op: "export", Message: "must come before any write of its session"}
	}
	export := s.store.export
	if len(export.sources) == 0 {
		return nil
	}
	var refused error
	row := export.newRow()
	err = s.read(ctx, "export", func(rows *sql.Rows) error {
		if err := rows.Scan(row.targets...); err != nil {
			return err
		}
		refused = export.sources[row.source].yield(s.store.dialect, row.values, yield)
		return refused
	}, export.text, slices.Repeat(key, len(export.sources))...)
	if refused != nil {
		return refused // as yield gave it
	}
	return err
}

// export is the statement that reads what is annotated, of all tables. A row of it is the number of its source, its
// number there, and the values of the source, which has the first of the columns.
type export struct {
	sources []source
	width   int // of the source with the most values
	text    string
}

// source is one table in an export.
type source struct {
	table    domain.Table
	personal []domain.Column
	records  []domain.ExportRecord // for each of them, what is the same in all rows
	since    []int                 // for each of them, which value its retention counts from; -1 for none
}

func newExport(store *Store) export {
	e := export{}
	var selected [][]string
	for _, table := range store.dataMap.Tables() {
		if len(table.Personal()) == 0 {
			continue
		}
		source, values := newSource(store.dialect, table)
		e.sources, selected = append(e.sources, source), append(selected, values)
		e.width = max(e.width, len(values))
	}
	keys := len(store.dataMap.SubjectTable().SubjectKey)
	branches := make([]string, len(e.sources))
	for i, source := range e.sources {
		missing := slices.Repeat([]string{"NULL"}, e.width-len(selected[i]))
		branches[i] = "SELECT " + strconv.Itoa(i) + " AS source, row_number() OVER (ORDER BY " +
			list("t0", source.table.PrimaryKey) + ") AS position, " + strings.Join(append(selected[i], missing...), ", ") +
			" FROM " + quoteTable(source.table.Name) + " AS t0 WHERE " + store.rowsOf(source.table, i*keys)
	}
	e.text = strings.Join(branches, " UNION ALL ") + " ORDER BY 1, 2" // not by name: a column of the application may have it
	return e
}

// newSource also returns the expressions to be selected: the primary key as texts, the annotated columns, the columns
// from which retention counts.
func newSource(dialect sqlDialect, table domain.Table) (source, []string) {
	s := source{table: table, personal: table.Personal()}
	var selected []string
	for _, name := range table.PrimaryKey {
		selected = append(selected, "CAST(t0."+quote(name)+" AS text)")
	}
	for _, column := range s.personal {
		selected = append(selected, dialect.exported(column))
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
		s.since = append(s.since, len(selected))
		selected = append(selected, dialect.exported(since))
	}
	return s, selected
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
