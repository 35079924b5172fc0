package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// CatalogReader reads the live schema of the application's database. The stores of this module implement it. It is safe
// for concurrent use.
type CatalogReader interface {
	// Catalog returns the tables and views of the database, also those on which the connection lacks privileges. It leaves
	// out those of the database system, those of habeas itself, and temporary ones. It reads the schema only, never a row
	// of the application, and changes nothing. It needs a connection of its own. Returns domain.ErrUnavailable if the
	// database cannot be reached.
	Catalog(ctx context.Context) (domain.Catalog, error)
}
