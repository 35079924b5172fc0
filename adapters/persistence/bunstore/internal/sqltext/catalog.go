package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Catalog holds the statements that read the live catalog (the table definitions) of a database (PostgreSQL) or of one
// schema (SQLite). A row of a result has two columns: the key of a table (a text that identifies the table), and a JSON
// object with the fields that package catalog reads. There are three exceptions:
//
//   - A row of Routines starts with the key of a function.
//   - A row of ViewReads has the key of a view and the name of a table that this view reads.
//   - A row of Statistics has the key of a table and its number of rows.
//
// A statement is empty if the database does not need it.
type Catalog struct {
	Tables, Columns, Indexes, ForeignKeys, Checks, Triggers, ViewReads, Routines string

	ColumnsOf     string // the columns of the view or virtual table with the name $1
	HasStatistics string // returns a row if the database has statistics, which Statistics reads
	Statistics    string

	Untyped      bool // a column accepts values of any type; see datamap.Catalog
	SerialWrites bool // see datamap.Catalog
}

// ReadMigrations returns a statement that reads the rows of a table which records migrations, but only the rows with
// these names. Each row of the result has the two texts key and name.
func ReadMigrations(key string, table datamap.CatalogTable, names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = literal(name)
	}
	return fill(`SELECT CAST({key} AS text), CAST(name AS text) FROM {table} WHERE CAST(name AS text) IN ({names})`,
		"key", literal(key), "table", qualifiedName(table), "names", strings.Join(quoted, ", "))
}

func (postgres) ColumnType(declared string) (t datamap.ColumnType, length int) {
	return sqltype.Parse(declared)
}

// ColumnType returns bigint for all integer types, because every integer has 64 bits in SQLite. For an unknown type
// name, it derives the column type from the type affinity (the conversion that SQLite applies to values of the column).
func (sqlite) ColumnType(declared string) (t datamap.ColumnType, length int) {
	t, length = sqltype.Parse(declared)
	switch {
	case t == datamap.TypeSmallInt || t == datamap.TypeInteger:
		return datamap.TypeBigInt, 0
	case t != "":
		return t, length
	case strings.Contains(strings.ToUpper(declared), "INT"):
		return datamap.TypeBigInt, 0
	}
	switch affinityOf(declared) { //nolint:exhaustive // the other affinities hold values of any type
	case affinityText:
		return datamap.TypeText, length
	case affinityReal:
		return datamap.TypeNumber, 0
	default:
		return "", 0
	}
}
