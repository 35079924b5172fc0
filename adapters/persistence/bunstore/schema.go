package bunstore

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/constraint"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/installation"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

var (
	_ ports.CatalogReader = (*Schema)(nil)
	_ ports.RowCounter    = (*Schema)(nil)
)

// Schema reads the live schema of a database like a Store, but needs no data map and no tables of habeas. It is safe
// for concurrent use.
type Schema struct {
	pool    *conn.Pool
	dialect syntax.Dialect
	needs   installation.Environment
}

// NewSchema returns the Schema of a database. It uses only Options.TrustEncoding, and opens no connection. It returns
// domain.ErrConfiguration if db is nil, or if its dialect is not pgdialect or sqlitedialect.
func NewSchema(db *bun.DB, opts Options) (*Schema, error) {
	if db == nil {
		return nil, domain.Misconfigured("catalog", "the database is nil")
	}
	d, err := dialectOf(db, "")
	if err != nil {
		return nil, err
	}
	needs := installation.Environment{Dialect: d, TrustEncoding: opts.TrustEncoding}
	return &Schema{conn.NewPool(db), d, needs}, nil
}

// Catalog implements ports.CatalogReader. It reads the definitions of the database's tables in one read-only
// transaction. It returns domain.ErrManifest if the encoding of the database lacks a character of the data map's texts.
func (s *Store) Catalog(ctx context.Context) (datamap.Catalog, error) {
	if err := s.checkConstants(ctx); err != nil {
		return datamap.Catalog{}, conn.Wrap(ctx, "catalog", err)
	}
	found, err := s.schema.Catalog(ctx)
	found.TrustsRowFilters = s.trustsRowFilters
	return found, err
}

// Satisfies implements ports.CatalogReader.
func (s *Store) Satisfies(
	ctx context.Context, table string, check datamap.CatalogCheck, examples []map[string]any,
) ([]datamap.Verdict, error) {
	return s.schema.Satisfies(ctx, table, check, examples)
}

// Catalog implements ports.CatalogReader.
func (s *Schema) Catalog(ctx context.Context) (found datamap.Catalog, err error) {
	err = conn.Retry(ctx, func() error {
		tx, err := s.pool.Snapshot(ctx)
		if err != nil {
			return conn.Wrap(ctx, "catalog", err)
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
		if err := s.needs.Check(ctx, tx.Query); err != nil {
			return conn.Wrap(ctx, "catalog", err)
		}
		found, err = live.ReadCatalog(ctx, tx.Query, s.dialect)
		return conn.Wrap(ctx, "catalog", err)
	})
	return found, err
}

// Satisfies implements ports.CatalogReader.
func (s *Schema) Satisfies(
	ctx context.Context, table string, check datamap.CatalogCheck, examples []map[string]any,
) ([]datamap.Verdict, error) {
	return constraint.Satisfies(ctx, s.pool, s.dialect, table, check, examples)
}

// CountRows implements ports.RowCounter.
func (s *Store) CountRows(ctx context.Context, of datamap.RowQuestion) (datamap.RowCount, error) {
	return s.schema.CountRows(ctx, of)
}

// CountRows implements ports.RowCounter. It reads in a transaction that cannot write.
func (s *Schema) CountRows(ctx context.Context, of datamap.RowQuestion) (datamap.RowCount, error) {
	return constraint.Count(ctx, s.pool, rows.Count(s.dialect, of))
}
