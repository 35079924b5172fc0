package bunstore

import (
	"context"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/constraint"
	"github.com/habeas-data/habeas/domain"
)

// Satisfies implements ports.CatalogReader.
func (s *Store) Satisfies(
	ctx context.Context, table string, check domain.CatalogCheck, rows []map[string]any,
) ([]domain.Verdict, error) {
	return constraint.Satisfies(ctx, s.pool, constraintsOf(s.db), table, check, rows)
}

// Satisfies implements ports.CatalogReader.
func (s *Schema) Satisfies(
	ctx context.Context, table string, check domain.CatalogCheck, rows []map[string]any,
) ([]domain.Verdict, error) {
	return constraint.Satisfies(ctx, s.pool, constraintsOf(s.db), table, check, rows)
}

func constraintsOf(db *bun.DB) constraint.Database {
	if db.Dialect().Name() == dialect.PG {
		return constraint.Postgres
	}
	return constraint.SQLite
}
