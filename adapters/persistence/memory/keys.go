package memory

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// Keys implements ports.SubjectStore. It needs no lock of its own, because the session that has locked the subject
// holds the write lock.
func (s subjectStore) Keys(ctx context.Context, id domain.SubjectID, query domain.KeyQuery) ([]string, error) {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return nil, err
	}
	state, err := s.read(ctx, !query.ErasedAt.IsZero())
	if err != nil || query.Limit <= 0 {
		return nil, err
	}
	var keys []string
	for _, table := range s.store.dataMap.Tables() {
		for _, column := range table.KeysOf(query.Resolver) {
			for _, path := range s.store.dataMap.Paths(table.Name) {
				if s.store.dataMap.HandsOver(table, column, path, !query.ErasedAt.IsZero()) {
					keys = append(keys, state.keysIn(table, column, state.rowsOf(id, table.Name, path), query)...)
				}
			}
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return slices.Clip(keys[:min(len(keys), query.Limit)]), nil
}

// keysIn returns the keys in a column of rows.
func (s *state) keysIn(table domain.Table, column domain.Column, rows []int, query domain.KeyQuery) (keys []string) {
	for _, i := range rows {
		key := textOf(s.rows[table.Name][i][column.Name])
		if key > query.After && s.wants(table, column, i, query) {
			keys = append(keys, key)
		}
	}
	return keys
}

// wants reports whether the query selects the cell of a row.
func (s *state) wants(table domain.Table, column domain.Column, row int, query domain.KeyQuery) bool {
	if query.ErasedAt.IsZero() || column.Personal.Strategy != domain.StrategyRetain {
		return true
	}
	return !s.dataMap.Keeps(table, column) && s.expired(table, row, column.Name, query.ErasedAt)
}
