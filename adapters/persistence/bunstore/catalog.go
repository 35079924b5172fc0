package bunstore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var (
	_ ports.CatalogReader = (*Store)(nil)
	_ ports.CatalogReader = (*Schema)(nil)
)

// Catalog implements ports.CatalogReader. It reads the definitions of the database's tables in one read-only
// transaction.
func (s *Store) Catalog(ctx context.Context) (domain.Catalog, error) {
	live, err := readCatalog(ctx, s.pool, s.dialect)
	live.TrustsRowFilters = s.trustsRowFilters
	return live, err
}

// Schema reads the live schema of a database like a Store, but needs no data map and no tables of habeas. It is safe
// for concurrent use.
type Schema struct {
	db      *bun.DB
	pool    *conn.Pool
	dialect sqltext.Dialect
}

// NewSchema returns the Schema of a database. It opens no connection. It returns domain.ErrConfiguration if db is nil,
// or if its dialect is not pgdialect or sqlitedialect.
func NewSchema(db *bun.DB) (*Schema, error) {
	if db == nil {
		return nil, domain.Misconfigured("catalog", "the database is nil")
	}
	d, err := dialectOf(db, "")
	if err != nil {
		return nil, err
	}
	return &Schema{db, conn.NewPool(db), d}, nil
}

// Catalog implements ports.CatalogReader.
func (s *Schema) Catalog(ctx context.Context) (domain.Catalog, error) {
	return readCatalog(ctx, s.pool, s.dialect)
}

func readCatalog(ctx context.Context, pool *conn.Pool, d sqltext.Dialect) (live domain.Catalog, err error) {
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
