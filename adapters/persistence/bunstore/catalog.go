package bunstore

import (
	"context"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.CatalogReader = (*Store)(nil)

// Catalog implements ports.CatalogReader. It reads the catalog in one transaction that only reads.
func (s *Store) Catalog(ctx context.Context) (live domain.Catalog, err error) {
	err = conn.Retry(ctx, func() error {
		tx, err := s.pool.Snapshot(ctx)
		if err != nil {
			return conn.Wrap(ctx, "catalog", err)
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
		live, err = catalog.ReadLive(ctx, tx.Query, s.dialect)
		return conn.Wrap(ctx, "catalog", err)
	})
	return live, err
}
