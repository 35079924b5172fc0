package verify

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
)

// LeftOver adds to the parameter found the rows and cells that a step should have deleted or overwritten but that still
// exist. The parameter at is the time of the erasure that has executed the step. Rows that were added later do not
// count. LeftOver changes no data.
func (s *Step) LeftOver(ctx context.Context, at time.Time, found domain.Leftovers) (domain.Leftovers, error) {
	cells := s.cellsOf()
	cells.AddedUntil = at
	switch s.Strategy { //nolint:exhaustive // a retain step leaves all rows
	case domain.StrategyDelete:
		rows, err := s.count(ctx, cells)
		return found.Add(s.table.Name, "", rows), err
	case domain.StrategyAnonymize:
	default:
		return found, nil
	}
	left := map[string]int64{}
	text, args := cells.OfSubject(s.key, false)
	err := s.each(ctx, cells, text, args, func(_ []string, held []held) {
		for _, cell := range held {
			if s.isLeftOver(cell) {
				left[cell.column]++
			}
		}
	})
	for _, name := range cells.Columns() {
		found = found.Add(s.table.Name, name, left[name])
	}
	return found, err
}

// isLeftOver reports whether a cell holds a value that the step did not write. A surrogate (the value that an erasure
// writes) for a text or a UUID can be recognized by its form. Every other surrogate is a constant. If the cell holds
// this constant, cell.written is true.
func (s *Step) isLeftOver(cell held) bool {
	column, _ := s.table.Column(cell.column)
	switch {
	case !cell.text.Valid:
		return false
	case slices.Contains(s.Clears, cell.column):
		return true
	case cell.text.String == "" || cell.written:
		return false
	case column.Type == domain.TypeText || column.Type == domain.TypeUUID:
		return column.IsLeftOver(cell.text.String)
	default:
		return true
	}
}

// Present reports whether the table of the step has a row of the subject that was not added after the time in the
// parameter at.
func (s *Step) Present(ctx context.Context, at time.Time) (bool, error) {
	cells := s.cellsOf()
	cells.AddedUntil = at
	rows, err := s.count(ctx, cells)
	return rows > 0, err
}

func (s *Step) count(ctx context.Context, cells *sqltext.Cells) (rows int64, err error) {
	text, args := cells.CountOfSubject(s.key)
	err = s.db.Read(ctx, s.Op, func(r *sql.Rows) error { return r.Scan(&rows) }, text, args...)
	return rows, err
}
