package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain"
)

// Catalog are the statements that read the live catalog of a database, or of one schema of it. A row of a result is the
// key of a table and an object in JSON, with fields as package catalog reads them; that of Reads is the key and a name,
// and that of Statistics the key and a number. A statement that the database does not need is empty.
type Catalog struct {
	Tables, Columns, Indexes, ForeignKeys, Checks, Triggers, Reads, Routines string

	ColumnsOf     string // of one table, whose name is the parameter: the columns of views and virtual tables
	HasStatistics string // returns rows if Statistics can be run
	Statistics    string

	Untyped bool // columns take values of any type; see domain.Catalog
}

// ownPrefix begins the names of the tables of habeas.
const ownPrefix = "habeas_"

// isOwn is the condition that a name begins as those of the tables of habeas do.
func isOwn(name string) string { return "lower(substr(" + name + ", 1, 7)) = " + literal(ownPrefix) }

func (postgres) ColumnType(declared string) (t domain.ColumnType, length int) {
	return sqltype.Parse(declared)
}

// ColumnType knows that SQLite takes any name for a type, and that whole numbers have 64 bits.
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
	switch affinityOf(declared) { //nolint:exhaustive // the others hold anything
	case affinityText:
		return domain.TypeText, length
	case affinityReal:
		return domain.TypeNumber, 0
	default:
		return "", 0
	}
}
