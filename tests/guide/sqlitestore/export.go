package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Export reads in the session's transaction, whose first statement has fixed the snapshot. What is held back stays so.
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
	if s.wrote {
		return &domain.Error{Code: domain.ErrSession, Op: "export", Message: "must come before any write of its session"}
	}
	for _, table := range s.store.dataMap.Tables() {
		if err := s.export(ctx, table, key, yield); err != nil {
			return err
		}
	}
	return s.exportLedgers(ctx, id, yield)
}

// exportLedgers yields the subject's lines of both ledgers.
func (s subjectStore) exportLedgers(
	ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error,
) error {
	stored := []string{"habeas_consents", "habeas_restrictions"}
	for i, ledger := range domain.LedgerTables() {
		columns := []string{"number"}
		for _, column := range ledger.Personal() {
			columns = append(columns, column.Name)
		}
		query := `SELECT ` + list(columns) + ` FROM ` + stored[i] + ` WHERE subject = ? ORDER BY number`
		columns[0] = domain.LedgerSeq
		if err := s.query(ctx, false, s.exporting(ctx, ledger, columns, ledger.Personal(), yield), query, id.String()); err != nil {
			return err
		}
	}
	return nil
}

// export yields the subject's rows of one table.
func (s subjectStore) export(
	ctx context.Context, table domain.Table, key []any, yield func(domain.ExportRecord) error,
) error {
	personal := table.Personal()
	if len(personal) == 0 {
		return nil
	}
	names := slices.Clone(table.PrimaryKey)
	for _, column := range personal {
		names = append(names, column.Name)
		if column.Personal.Since != "" {
			names = append(names, column.Personal.Since)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	query := `SELECT ` + list(names) + ` FROM ` + quoteTable(table.Name) + s.ownedBy(table.Name) + ` ORDER BY ` + list(table.PrimaryKey)
	return s.query(ctx, false, s.exporting(ctx, table, names, personal, yield), query, key...)
}

// exporting yields the annotated columns of a row in which the named columns are.
func (s subjectStore) exporting(
	ctx context.Context, table domain.Table, names []string, personal []domain.Column, yield func(domain.ExportRecord) error,
) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		values := make([]any, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return s.failStatement(ctx, err)
		}
		row := map[string]any{}
		for i, name := range names {
			column, _ := table.Column(name)
			row[name] = decode(column, values[i])
		}
		for _, column := range personal {
			if err := yield(exported(table, row, column)); err != nil {
				return err
			}
		}
		return nil
	}
}

// exported is one field of one row.
func exported(table domain.Table, row map[string]any, column domain.Column) domain.ExportRecord {
	annotation := column.Personal
	keys := make([]string, len(table.PrimaryKey))
	for i, name := range table.PrimaryKey {
		keys[i] = fmt.Sprint(row[name])
	}
	record := domain.ExportRecord{
		Source:          table.Name,
		Field:           column.Name,
		Row:             domain.CanonicalTuple(keys),
		Category:        annotation.Category,
		Value:           row[column.Name],
		LegalBasis:      orNil(annotation.Basis),
		Purpose:         orNil(annotation.Purpose),
		RetentionReason: orNil(annotation.Reason),
	}
	if since, ok := row[annotation.Since].(time.Time); ok {
		record.ExpiresAt = orNil(domain.Instant(annotation.Retain.After(since)))
	}
	return record
}

// orNil is nil for the zero value.
func orNil[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
