package memory

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.CatalogReader = Schema{}

// Schema is a ports.CatalogReader without a database. It returns a given catalog, for example one of a test, and
// decides no constraint.
type Schema struct{ catalog datamap.Catalog }

// NewSchema returns a Schema with the catalog.
func NewSchema(catalog datamap.Catalog) Schema { return Schema{catalog} }

// Catalog implements ports.CatalogReader. The caller must not change the result.
func (s Schema) Catalog(ctx context.Context) (datamap.Catalog, error) {
	if ctx.Err() != nil {
		return datamap.Catalog{}, endedBy(ctx)
	}
	return s.catalog, nil
}

// Satisfies implements ports.CatalogReader. Each verdict is datamap.VerdictUndecided, because only a database can
// evaluate a constraint.
func (Schema) Satisfies(
	ctx context.Context, _ string, _ datamap.CatalogCheck, rows []map[string]any,
) ([]datamap.Verdict, error) {
	if ctx.Err() != nil {
		return nil, endedBy(ctx)
	}
	return slices.Repeat([]datamap.Verdict{datamap.VerdictUndecided}, len(rows)), nil
}
