package bunstore

import (
	"context"
	"database/sql"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/domain"
)

// Keys implements ports.SubjectStore. If query.ErasedAt is set, the caller is an erasure, and Keys locks the rows that
// it reads until the transaction ends. The session counts this statement as a write. Otherwise, Apply could restart the
// transaction, which would release these locks.
func (s subjectStore) Keys(ctx context.Context, id domain.SubjectID, query domain.KeyQuery) ([]string, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if err := s.usable(); err != nil || query.Limit <= 0 {
		return nil, err
	}
	run, need, live := s.read, catalog.ToRead, (*catalog.Catalog)(nil)
	if !query.ErasedAt.IsZero() {
		run, need = s.writeRows, catalog.ToUpdate
		if live, err = s.readCatalog(ctx, id, key); err != nil {
			return nil, err
		}
	}
	text, args, tables := s.store.text.Keys(live, query, nil, key)
	return s.readKeys(ctx, run, need, tables, text, args)
}

// SweptKeys implements ports.RetentionSweeper.
func (s subjectStore) SweptKeys(ctx context.Context, id domain.SubjectID, query domain.KeyQuery) ([]string, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if err := s.usable(); err != nil || query.Limit <= 0 || query.ErasedAt.IsZero() {
		return nil, err
	}
	scope, err := s.lockToSweep(ctx, id, key, query.DutiesSince)
	if err != nil || scope == nil {
		return nil, err
	}
	text, args, tables := s.store.text.Keys(s.catalog, query, scope, key)
	return s.readKeys(ctx, s.writeRows, catalog.ToUpdate, tables, text, args)
}

// readKeys runs a statement that reads keys of an external system. If the database refuses the statement, the error
// names the privileges that the role lacks on the tables.
func (s subjectStore) readKeys(
	ctx context.Context, run runner, need func(table string) catalog.Need, tables []string, text string, args []any,
) (keys []string, err error) {
	if text == "" {
		return nil, nil
	}
	err = run(ctx, "read keys", func(rows *sql.Rows) error {
		var held string
		err := rows.Scan(&held)
		keys = append(keys, held)
		return err
	}, text, args...)
	if err != nil {
		needs := make([]catalog.Need, len(tables))
		for i, table := range tables {
			needs[i] = need(table)
		}
		return nil, s.explain(ctx, "read keys", err, needs...)
	}
	return keys, nil
}
