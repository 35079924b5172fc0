package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// CatalogReader reads the live schema of the application's database. The stores of this module implement it. It is safe
// for concurrent use.
type CatalogReader interface {
	// Catalog returns the tables and views that the connection can see, but for those of the database system and of
	// habeas itself. It reads the schema only, never a row of the application, and changes nothing. Returns
	// domain.ErrUnavailable if the database cannot be reached.
	Catalog(ctx context.Context) (domain.Catalog, error)
}
