package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// CatalogReader reads the live schema of the application's database. The stores of this module implement it. It is safe
// for concurrent use.
type CatalogReader interface {
	// Catalog returns the tables and views of the database, including those on which the connection lacks privileges. It
	// leaves out the tables of the database system, the tables of habeas, and temporary tables. It reads only the schema,
	// never a row of the application, and changes nothing. It needs a separate connection. Returns domain.ErrUnavailable
	// if the database cannot be reached.
	Catalog(ctx context.Context) (domain.Catalog, error)
}
