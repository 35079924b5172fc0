package verify

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
)

// LeftOver adds to what was found what the step, which an erasure has carried out at an instant, should have deleted or
// overwritten. Rows that were added later do not count. It changes nothing.
func (s *Step) LeftOver(ctx context.Context, at time.Time, found domain.Leftovers) (domain.Leftovers, error) {
	cells := s.cellsOf()
	cells.Until = at
	switch s.Strategy { //nolint:exhaustive // a step that retains leaves everything
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

// isLeftOver reports whether the step has not written what a cell holds. A text or a UUID is known by its form, and any
// other surrogate is a constant.
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

// Present reports whether the step has any row that was not added after an instant.
func (s *Step) Present(ctx context.Context, at time.Time) (bool, error) {
	cells := s.cellsOf()
	cells.Until = at
	rows, err := s.count(ctx, cells)
	return rows > 0, err
}

func (s *Step) count(ctx context.Context, cells *sqltext.Cells) (rows int64, err error) {
	text, args := cells.CountOfSubject(s.key)
	err = s.db.Read(ctx, s.Op, func(r *sql.Rows) error { return r.Scan(&rows) }, text, args...)
	return rows, err
}
