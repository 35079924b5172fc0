package bunstore

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/find"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var (
	_ ports.CatalogReader = (*Store)(nil)
	_ ports.Finder        = (*Store)(nil)
)

// Catalog implements ports.CatalogReader. It reads the definitions of the database's tables in one read-only
// transaction.
func (s *Store) Catalog(ctx context.Context) (domain.Catalog, error) {
	found, err := readCatalog(ctx, s.pool, s.dialect)
	found.TrustsRowFilters = s.trustsRowFilters
	return found, err
}

// ReadCatalog reads the same catalog as Store.Catalog, but needs no data map and no tables of habeas. It returns
// domain.ErrConfiguration if db is nil, or if its dialect is not pgdialect or sqlitedialect.
func ReadCatalog(ctx context.Context, db *bun.DB) (domain.Catalog, error) {
	if db == nil {
		return domain.Catalog{}, domain.Misconfigured("catalog", "the database is nil")
	}
	d, err := dialectOf(db, "")
	if err != nil {
		return domain.Catalog{}, err
	}
	return readCatalog(ctx, conn.NewPool(db), d)
}

func readCatalog(ctx context.Context, pool *conn.Pool, d syntax.Dialect) (found domain.Catalog, err error) {
	err = conn.Retry(ctx, func() error {
		tx, err := pool.Snapshot(ctx)
		if err != nil {
			return conn.Wrap(ctx, "catalog", err)
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
		found, err = live.ReadCatalog(ctx, tx.Query, d)
		return conn.Wrap(ctx, "catalog", err)
	})
	return found, err
}

// Find implements ports.Finder. It runs outside a transaction. One statement searches up to 8 columns of a table for up
// to 16 values. On PostgreSQL, the server's statement_timeout limits each of these statements.
//
// On SQLite, Find searches texts and binary values in columns of any declared type. After the first NUL of a cell, it
// finds the value itself and no other form of it.
//
// Before Find searches a foreign table, it reads one row. If the server of the table does not answer within 10 seconds,
// the table is a gap with the reason domain.GapFailed, as are tables with such a partition.
func (s *Store) Find(
	ctx context.Context, values []string, progress func(domain.SearchProgress),
) (domain.SearchResult, error) {
	if err := domain.CheckSearchValues(values); err != nil {
		return domain.SearchResult{}, err
	}
	var foreign *domain.ForeignMapError
	if err := s.newReader().db.Ready(ctx); errors.As(err, &foreign) { // the tables of habeas have other people
		return domain.SearchResult{}, err
	}
	catalog, err := s.Catalog(ctx)
	if err != nil {
		return domain.SearchResult{}, err
	}
	found, err := find.Values(ctx, s.finding, catalog, values, progress)
	return found, conn.Wrap(ctx, "find", err)
}
