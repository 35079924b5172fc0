package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain"
)

// Catalog holds the statements that read the live catalog of a database (PostgreSQL) or of one schema (SQLite). A row
// of a result has two columns: the key of a table, and a JSON object with the fields that package catalog reads. There
// are three exceptions:
//
//   - Routines starts with the key of a function instead of a table.
//   - ViewReads ends with the name of a table that the view reads, instead of the JSON object.
//   - Statistics ends with the number of rows of the table, instead of the JSON object.
//
// A statement is empty if the database does not need it.
type Catalog struct {
	Tables, Columns, Indexes, ForeignKeys, Checks, Triggers, ViewReads, Routines string

	ColumnsOf     string // the columns of the view or virtual table with the name $1
	HasStatistics string // returns a row if the database has statistics, which Statistics reads
	Statistics    string

	Untyped      bool // a column accepts values of any type; see domain.Catalog
	SerialWrites bool // see domain.Catalog
}

// ownPrefix is the prefix of the tables of habeas.
const ownPrefix = "habeas_"

// isOwn returns the condition that an expression for a table name starts with ownPrefix.
func isOwn(name string) string { return "lower(substr(" + name + ", 1, 7)) = " + literal(ownPrefix) }

func (postgres) ColumnType(declared string) (t domain.ColumnType, length int) {
	return sqltype.Parse(declared)
}

// ColumnType handles two properties of SQLite: a type can have any name, and every integer has 64 bits.
func (sqlite) ColumnType(declared string) (t domain.ColumnType, length int) {
	t, length = sqltype.Parse(declared)
	switch {
	case t == domain.TypeSmallInt || t == domain.TypeInteger:
		return domain.TypeBigInt, 0
	case t != "":
		return t, length
	case strings.Contains(strings.ToUpper(declared), "INT"):
		return domain.TypeBigInt, 0
	}
	switch affinityOf(declared) { //nolint:exhaustive // the other affinities hold values of any type
	case affinityText:
		return domain.TypeText, length
	case affinityReal:
		return domain.TypeNumber, 0
	default:
		return "", 0
	}
}
