package memory

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// Keys implements ports.SubjectStore. It needs no lock of its own, because the session that has locked the subject
// already holds the write lock.
func (s subjectStore) Keys(ctx context.Context, id domain.SubjectID, query plan.KeyQuery) ([]string, error) {
	state, err := s.readOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return state.keys(id, query, func(table datamap.Table, _ datamap.Path, column datamap.Column, row int) bool {
		return state.selectsCell(table, column, row, query)
	}), nil
}

// keys returns the keys that the query selects. A key is the id of a subject, or of an object of the subject, in an
// external system. Columns of the application contain these keys. isSelected reports whether the query includes the
// cell of a row and a column.
func (s *state) keys(
	id domain.SubjectID, query plan.KeyQuery,
	isSelected func(table datamap.Table, path datamap.Path, column datamap.Column, row int) bool,
) (keys []string) {
	kept := map[string]bool{} // the keys in the other cells of the subject's rows
	for _, table := range s.dataMap.Tables() {
		columns := table.RefColumns(query.Resolver)
		if len(columns) == 0 {
			continue
		}
		rows, paths := s.pathsOf(id, table.Name)
		for _, column := range columns {
			for _, i := range rows {
				key := textOf(s.rows[table.Name][i][column.Name])
				selected := slices.ContainsFunc(paths[i], func(path datamap.Path) bool {
					return plan.SelectsKeys(s.dataMap, query, table, column, path) && isSelected(table, path, column, i)
				})
				if !selected {
					kept[key] = true
				} else if key > query.After {
					keys = append(keys, key)
				}
			}
		}
	}
	if !query.ErasedAt.IsZero() {
		keys = slices.DeleteFunc(keys, func(key string) bool { return kept[key] })
	}
	slices.Sort(keys)
	return slices.Clip(upTo(query.Limit, slices.Compact(keys)))
}

// selectsCell reports whether the query includes the key in a cell. A query after an erasure includes a retained key
// only if the retention period of the key has ended.
func (s *state) selectsCell(table datamap.Table, column datamap.Column, row int, query plan.KeyQuery) bool {
	if query.Cells != nil && query.Cells.Row != "" && rowName(table, s.rows[table.Name][row]) != query.Cells.Row {
		return false
	}
	if query.ErasedAt.IsZero() || column.Personal.Strategy != domain.StrategyRetain {
		return true
	}
	return !plan.Keeps(s.dataMap, table, column) && s.isExpired(table, row, column.Name, query.ErasedAt)
}
