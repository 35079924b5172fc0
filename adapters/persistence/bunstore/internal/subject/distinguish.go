package subject

import (
	"context"
	"database/sql"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// isBlank is the expression that reports whether the subject's row is blank, see rows.Writer.Blank. The parameters
// begin with the subject's key.
const isBlank = `EXISTS (SELECT 1 FROM {table} AS t0 WHERE {blank})`

// distinguish writes one distinctive surrogate into the subject's row if the row is blank after the steps of an
// erasure, and if its creation time does not tell whose row it is (see domain.Life). It takes the first column in the
// order of the data map that the database lets it write. Without such a column, the row stays blank.
func (s *Work) distinguish(ctx context.Context, id domain.SubjectID, key []any, steps []datamap.Step) error {
	subject := s.store.writer.DataMap.SubjectTable()
	columns, blank := s.store.writer.Blank()
	overwrites := func(step datamap.Step) bool {
		return step.Target == subject.Name && slices.ContainsFunc(columns, func(name string) bool {
			return slices.Contains(step.Columns, name)
		})
	}
	neverNull := func(name string) bool { return s.schema.IsNeverNull(subject.Name, name) }
	if !slices.ContainsFunc(steps, overwrites) || slices.ContainsFunc(columns, neverNull) || s.creationTells(id) {
		return nil
	}
	if !s.blank.Valid {
		text := syntax.Fill("SELECT "+isBlank, "table", syntax.QuoteTable(subject.Name), "blank", blank)
		err := s.db.Read(ctx, "erase", func(rows *sql.Rows) error { return rows.Scan(&s.blank) }, text, key...)
		if err != nil {
			return err
		}
	}
	for refused := s.blank.Bool; refused && len(columns) > 0; columns = columns[1:] {
		var err error
		refused, err = s.db.Try(ctx, "erase", true, func() error {
			text, args := s.store.writer.Distinguish(s.schema, columns[0], key)
			_, err := s.db.Write(ctx, "erase", text, args...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// creationTells reports whether the creation time of the row that the erasure has found tells whose row it is.
func (s *Work) creationTells(id domain.SubjectID) bool {
	erasing := s.unsent.Erasing(id)
	return erasing != nil && domain.LifeEvidence{AddedAt: erasing.Added}.Tells()
}
