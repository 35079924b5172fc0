package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// Rectify implements ports.SubjectStore.
func (s subjectStore) Rectify(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error) {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return 0, err
	}
	table, ok := s.store.dataMap.Table(step.Table)
	if !ok || len(step.Values) == 0 {
		return 0, manifestError("rectify", "a step must name annotated columns of a table")
	}
	path, ok := s.store.dataMap.PathVia(step.Table, step.Via)
	if !ok {
		return 0, manifestError("rectify", "a step must name one of the table's paths")
	}
	values := Row{}
	for _, right := range step.Values {
		column, ok := table.Column(right.Column)
		if !ok || !path.Has(column) {
			return 0, manifestError("rectify", "a step must name annotated columns of a table")
		}
		if values[column.Name], ok = storable(column, right.Value); !ok || right.Value == nil {
			return 0, s.fail(domain.Invalid("rectify", []domain.FieldError{{ // no partial commit
				Field: string(column.Personal.Category), Code: domain.FieldType, Message: "must fit the type of its column",
			}}))
		}
	}
	state, err := s.write(ctx)
	if err != nil {
		return 0, err
	}
	own := state.rowsOf(id, table.Name, path)
	if step.Row != "" {
		own = slices.DeleteFunc(own, func(i int) bool { return rowName(table, state.rows[table.Name][i]) != step.Row })
	}
	state.update(table.Name, own, func(_ int, row Row) { maps.Copy(row, values) })
	return int64(len(own)), nil
}
