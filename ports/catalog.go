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

	// Satisfies returns for each row whether it satisfies a CHECK constraint of a table of the catalog, or the condition
	// of a partial index (datamap.CatalogUnique.Where), or that of the partitions of the table. The database evaluates the
	// condition on the values of the rows, which are examples and never values of the application. A row has values by the
	// names of columns: nil, a string, an int64, a float64, a bool or a []byte. A string can be the text form of a value
	// of any type.
	//
	// The verdict is datamap.VerdictUndecided if the database refuses to evaluate the constraint on the row. For example,
	// the constraint needs a column that the row does not have, calls a function that fails, or takes too long. The
	// reader does not evaluate a constraint that calls a volatile function, or that could run code of a role that the
	// connection does not trust, and the verdict is undecided, too. It is also undecided if the table does not have the
	// constraint, and if there is no database, as in a store in memory. Satisfies writes nothing, and returns
	// domain.ErrUnavailable if the database cannot be reached.
	Satisfies(
		ctx context.Context, table string, check datamap.CatalogCheck, rows []map[string]any,
	) ([]datamap.Verdict, error)
}

// RowCounter counts rows of the application for the rules of package check that the catalog cannot decide. It is safe
// for concurrent use.
type RowCounter interface {
	// CountRows counts the rows of a question, and reads nothing else. It uses a separate connection, and writes nothing.
	// It answers that the rows are not counted if the database refuses the statement, or if the deadline of the context
	// ends it. CountRows returns domain.ErrUnavailable if the database cannot be reached.
	CountRows(ctx context.Context, of datamap.RowQuestion) (datamap.RowCount, error)
}
