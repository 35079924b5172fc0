package live

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// catalog holds the statements that read the live catalog (the table definitions) of a database (PostgreSQL) or of one
// schema (SQLite). A row of a result has two columns: the key of a table (a text that identifies the table), and a JSON
// object with the fields that package catalog reads. There are three exceptions:
//
//   - A row of Routines starts with the key of a function.
//   - A row of ViewReads has the key of a view and the name of a table that this view reads.
//   - A row of Statistics has the key of a table and its number of rows.
//
// A statement is empty if the database does not need it.
type statements struct {
	Tables, Columns, Indexes, ForeignKeys, Checks, Triggers, ViewReads, Routines string

	ColumnsOf     string // the columns of the view or virtual table with the name $1
	HasStatistics string // returns a row if the database has statistics, which Statistics reads
	Statistics    string

	Untyped      bool // a column accepts values of any type; see domain.Catalog
	SerialWrites bool // see domain.Catalog
}

// readMigrations returns a statement that reads the rows of a table which records migrations, but only the rows with
// these names. Each row of the result has the two texts key and name.
func readMigrations(key string, table domain.CatalogTable, names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = syntax.Literal(name)
	}
	return syntax.Fill(`SELECT CAST({key} AS text), CAST(name AS text) FROM {table} WHERE CAST(name AS text) IN ({names})`,
		"key", syntax.Literal(key), "table", syntax.QualifiedName(table), "names", strings.Join(quoted, ", "))
}
