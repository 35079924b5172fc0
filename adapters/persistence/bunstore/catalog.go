package bunstore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.CatalogReader = (*Store)(nil)

// Catalog implements ports.CatalogReader. It reads the definitions of the database's tables in one read-only
// transaction.
func (s *Store) Catalog(ctx context.Context) (datamap.Catalog, error) {
	live, err := readCatalog(ctx, s.pool, s.dialect)
	live.TrustsRowFilters = s.trustsRowFilters
	return live, err
}

// ReadCatalog reads the same catalog as Store.Catalog, but needs no data map and no tables of habeas. It returns
// domain.ErrConfiguration if db is nil, or if its dialect is not pgdialect or sqlitedialect.
func ReadCatalog(ctx context.Context, db *bun.DB) (datamap.Catalog, error) {
	if db == nil {
		return datamap.Catalog{}, domain.Misconfigured("catalog", "the database is nil")
	}
	d, err := dialectOf(db, "")
	if err != nil {
		return datamap.Catalog{}, err
	}
	return readCatalog(ctx, conn.NewPool(db), d)
}

func readCatalog(ctx context.Context, pool *conn.Pool, d sqltext.Dialect) (live datamap.Catalog, err error) {
	err = conn.Retry(ctx, func() error {
		tx, err := pool.Snapshot(ctx)
		if err != nil {
			return conn.Wrap(ctx, "catalog", err)
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
		live, err = catalog.ReadLive(ctx, tx.Query, d)
		return conn.Wrap(ctx, "catalog", err)
	})
	return live, err
}
