package memory

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.CatalogReader = Schema{}

// Schema is a ports.CatalogReader without a database. It returns a given catalog, for example one of a test, and
// decides no constraint.
type Schema struct{ catalog domain.Catalog }

// NewSchema returns a Schema with the catalog.
func NewSchema(catalog domain.Catalog) Schema { return Schema{catalog} }

// Catalog implements ports.CatalogReader. The caller must not change the result.
func (s Schema) Catalog(ctx context.Context) (domain.Catalog, error) {
	if ctx.Err() != nil {
		return domain.Catalog{}, endedBy(ctx)
	}
	return s.catalog, nil
}

// Satisfies implements ports.CatalogReader. Each verdict is domain.VerdictUndecided, because only a database can
// evaluate a constraint.
func (Schema) Satisfies(
	ctx context.Context, _ string, _ domain.CatalogCheck, rows []map[string]any,
) ([]domain.Verdict, error) {
	if ctx.Err() != nil {
		return nil, endedBy(ctx)
	}
	return slices.Repeat([]domain.Verdict{domain.VerdictUndecided}, len(rows)), nil
}
