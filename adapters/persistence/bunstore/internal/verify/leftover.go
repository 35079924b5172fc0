package verify

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// LeftOver adds a count to leftovers for the rows and cells that still exist, although the step should have deleted or
// overwritten them. It ignores rows that were added after erasedAt, the time of the erasure that has executed the step.
// LeftOver changes no data.
func (s *Step) LeftOver(
	ctx context.Context, erasedAt time.Time, leftovers domain.Leftovers,
) (domain.Leftovers, error) {
	if s.Self { // the later step finds the rows to which a reference leads
		return leftovers, nil
	}
	s.addedUntil = erasedAt
	switch s.Strategy { //nolint:exhaustive // a retain step leaves all rows
	case domain.StrategyDelete:
		rows, err := s.count(ctx)
		return leftovers.Add(s.table.Name, "", rows), err
	case domain.StrategyAnonymize:
	default:
		return leftovers, nil
	}
	left := map[string]int64{}
	text, args := s.ofSubject(false)
	err := s.readCells(ctx, text, args, func(_ rowKey, content []heldCell, _ []otherCell) {
		for _, cell := range content {
			if s.isLeftOver(cell) {
				left[cell.column]++
			}
		}
	})
	for _, name := range s.overwritten() {
		leftovers = leftovers.Add(s.table.Name, name, left[name])
	}
	return leftovers, err
}

// isLeftOver reports whether a cell holds a value that the step did not write. A surrogate for a text or a UUID can be
// recognized by its form. Every other surrogate is a constant. If the cell holds this constant, cell.written is true.
func (s *Step) isLeftOver(cell heldCell) bool {
	column, _ := s.table.Column(cell.column)
	switch {
	case !cell.text.Valid:
		return false
	case slices.Contains(s.ClearedColumns, cell.column):
		return true
	case cell.text.String == "" || cell.written:
		return false
	case column.Type == datamap.TypeText || column.Type == datamap.TypeUUID:
		return plan.IsLeftOver(column, cell.text.String)
	default:
		return true
	}
}

// count returns the number of the subject's rows that the step covers.
func (s *Step) count(ctx context.Context) (rows int64, err error) {
	text, args := s.ofSubject(false)
	err = s.db.Read(ctx, s.Op, func(r *sql.Rows) error { return r.Scan(&rows) },
		"SELECT count(*) FROM ("+text+") AS found", args...)
	return rows, err
}
