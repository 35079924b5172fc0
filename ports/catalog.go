package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain/datamap"
)

// CatalogReader reads the current schema of the application's database. The stores of this module implement
// CatalogReader, and the tools for operators receive it beside the SessionFactory. A CatalogReader is safe for
// concurrent use.
type CatalogReader interface {
	// Catalog returns the tables and views of the database, including those for which the database user has no privileges.
	// It leaves out the tables of the database system, the tables of habeas, and temporary tables. It reads only the
	// schema and no row of the application, and changes nothing. It uses a separate connection. Catalog returns
	// domain.ErrUnavailable if the database cannot be reached.
	Catalog(ctx context.Context) (datamap.Catalog, error)
}
