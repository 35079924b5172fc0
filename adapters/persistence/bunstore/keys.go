package bunstore

import (
	"context"
	"database/sql"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Keys implements ports.SubjectStore. If query.ErasedAt or query.Cells is set, the caller is an erasure or a
// rectification, and Keys locks the rows that it reads until the transaction ends.
func (s subjectStore) Keys(ctx context.Context, id domain.SubjectID, query datamap.KeyQuery) ([]string, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if err := s.usable(); err != nil || query.Limit <= 0 {
		return nil, err
	}
	changes, live := !query.ErasedAt.IsZero() || query.Cells != nil, s.store.catalogs.Last()
	if changes || live == nil { // an export reads the newest catalog after the keys
		if live, err = s.readCatalog(ctx, id, key); err != nil {
			return nil, err
		}
	}
	if _, err := live.RefuseSubject(id, "read keys"); err != nil {
		return nil, s.fail(ctx, "read keys", err)
	}
	run, need := s.read, catalog.ToRead
	if changes {
		run, need = s.writeRows, catalog.ToUpdate
	}
	text, args, tables := s.store.text.Keys(live, query, nil, key)
	return s.readKeys(ctx, run, need, tables, text, args)
}

// SweptKeys implements ports.ErasedStore.
func (s erasedStore) SweptKeys(ctx context.Context, id domain.SubjectID, query datamap.KeyQuery) ([]string, error) {
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
	if _, err := s.catalog.RefuseSubject(id, "read keys"); err != nil {
		return nil, s.fail(ctx, "read keys", err)
	}
	text, args, tables := s.store.text.Keys(s.catalog, query, scope, key)
	return subjectStore(s).readKeys(ctx, s.writeRows, catalog.ToUpdate, tables, text, args)
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
