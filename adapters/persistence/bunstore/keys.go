package bunstore

import (
	"context"
	"database/sql"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/domain"
)

// Keys implements ports.SubjectStore. For an erasure, Keys counts as a writing statement, because its first call locks
// rows until the transaction ends. Apply can then not restart the transaction, which would release these locks.
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
	text, args, tables := s.store.text.Keys(live, query, key)
	if text == "" {
		return nil, nil
	}
	var keys []string
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
