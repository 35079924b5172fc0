package memory

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// Export implements ports.SubjectStore. It exports the newest committed state from the time of the call. Later commits
// of other sessions do not change the export.
func (s subjectStore) Export(
	ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error,
) error {
	snapshot, err := s.readOf(ctx, id)
	if err != nil {
		return err
	}
	if s.state != nil {
		return &domain.Error{Code: domain.ErrSession, Op: "export", Message: "must come before any write of its session"}
	}
	m, erased := s.store.dataMap, snapshot.life(id).HoldsErased()
	for _, table := range m.Tables() {
		rows, columns := snapshot.rows[table.Name], m.ExportedColumns(table)
		own, paths := snapshot.pathsOf(id, table.Name)
		for number, i := range sortedIndexes(table, rows, own) {
			if err := s.ready(ctx); err != nil {
				return err
			}
			name := rowName(table, rows[i])
			if !table.NamesRowsByKey() {
				name = strconv.Itoa(number + 1)
			}
			records := recordsOf(m, table, columns, name, rows[i])
			if erased {
				plan.MarkErased(m, table, paths[i], records)
			}
			if plan.SharesColumns(m, table) {
				plan.MarkSharedErased(m, table, paths[i], snapshot.erasedPaths(table, i), records)
			}
			records = slices.DeleteFunc(records, func(r domain.ExportRecord) bool {
				column, _ := table.Column(r.Field)
				return !slices.ContainsFunc(paths[i], func(p datamap.Path) bool { return p.Has(column) })
			})
			if err := yieldAll(records, yield); err != nil {
				return err
			}
		}
	}
	return s.exportLedgers(ctx, snapshot, id, yield)
}

// erasedPaths returns the paths that connect the row of the table to people who were erased. A path is a chain of
// references from the table to the table of subjects.
func (s *state) erasedPaths(table datamap.Table, index int) []datamap.Path {
	var erased []datamap.Path
	for id, mark := range s.erasures {
		if mark.Erasures == 0 {
			continue
		}
		for _, path := range s.dataMap.Paths(table.Name) {
			if slices.Contains(s.rowsOf(id, table.Name, path), index) {
				erased = append(erased, path)
			}
		}
	}
	return erased
}

// exportLedgers yields the subject's records of the consent ledger and the restriction ledger. The row number of a
// record is its position in the ledger, counted from 1.
func (s subjectStore) exportLedgers(
	ctx context.Context, snapshot *state, id domain.SubjectID, yield func(domain.ExportRecord) error,
) error {
	mark := snapshot.erasures[id]
	until := []int64{mark.ConsentsUntil, mark.RestrictionsUntil}
	consents, restrictions := snapshot.ledgerRows(func(of domain.SubjectID) bool { return of == id })
	for i, rows := range [][]Row{consents, restrictions} {
		ledger := plan.LedgerTables()[i]
		for _, row := range rows {
			if seq, _ := row[plan.LedgerSeq].(int64); seq <= until[i] {
				continue
			}
			if err := s.ready(ctx); err != nil {
				return err
			}
			records := recordsOf(s.store.dataMap, ledger, ledger.Exported(), rowName(ledger, row), row)
			if err := yieldAll(records, yield); err != nil {
				return err
			}
		}
	}
	return nil
}

// ledgerRows returns the records of the chosen subjects in the consent ledger and in the restriction ledger, as rows.
func (s *state) ledgerRows(isChosen func(domain.SubjectID) bool) (consents, restrictions []Row) {
	for i, r := range s.consents {
		if isChosen(r.SubjectID) {
			consents = append(consents, Row{
				plan.LedgerSeq: seqOf(i), "subject_id": r.SubjectID.String(), "purpose": r.Purpose,
				"policy_version": r.PolicyVersion, "granted": r.Granted, "recorded_at": r.RecordedAt, "source": r.Source,
			})
		}
	}
	for i, r := range s.restrictions {
		if isChosen(r.SubjectID) {
			restrictions = append(restrictions, Row{
				plan.LedgerSeq: seqOf(i), "subject_id": r.SubjectID.String(), "purpose": valueOf(r.Purpose),
				"restricted": r.Restricted, "reason": valueOf(r.Reason), "recorded_at": r.RecordedAt, "source": r.Source,
			})
		}
	}
	return consents, restrictions
}

// valueOf returns the value of a text column: a string, or nil for NULL.
func valueOf(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

// recordsOf returns an export record for each of the given columns of a row. The parameter name identifies the row in
// the export.
func recordsOf(
	m datamap.DataMap, table datamap.Table, columns []datamap.Column, name string, row Row,
) []domain.ExportRecord {
	records := make([]domain.ExportRecord, len(columns))
	for i, column := range columns {
		records[i] = exported(m, table, name, row, column)
	}
	return records
}

func yieldAll(records []domain.ExportRecord, yield func(domain.ExportRecord) error) error {
	for _, record := range records {
		if err := yield(record); err != nil {
			return err
		}
	}
	return nil
}

// exported returns the export record for one column of a row.
func exported(m datamap.DataMap, table datamap.Table, name string, row Row, column datamap.Column) domain.ExportRecord {
	annotation := column.Personal
	record := domain.ExportRecord{
		Source:          table.Name,
		Field:           column.Name,
		Row:             name,
		Category:        annotation.Category,
		Value:           cloneValue(row[column.Name]),
		LegalBasis:      optional(annotation.Basis),
		Purpose:         optional(annotation.Purpose),
		RetentionReason: optional(annotation.Reason),
	}
	if start, ok := plan.ReadStart(row[annotation.Since]); ok {
		if end, ends := m.Duty(*annotation).End(start); ends {
			record.ExpiresAt = &end
		}
	}
	return record
}

// rowName returns the name of a row in an export: its primary key as one text, which is never empty.
func rowName(table datamap.Table, row Row) string {
	key := texts(row, table.PrimaryKey)
	for i, name := range table.PrimaryKey {
		switch value := row[name].(type) {
		case nil:
			key[i] = "NULL"
		case []byte:
			key[i] = `\x` + hex.EncodeToString(value)
		}
	}
	return cmp.Or(domain.CanonicalTuple(key), `""`)
}

// optional returns nil for the zero value, and otherwise a pointer to the value.
func optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
