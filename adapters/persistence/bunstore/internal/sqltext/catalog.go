package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain"
)

// Catalog holds the statements that read the live catalog of a database, or of one schema. A row of a result is the key
// of a table and a JSON object with the fields that package catalog reads. A row of Reads is the key and a name. A row
// of Statistics is the key and a number. A statement is empty if the database does not need it.
type Catalog struct {
	Tables, Columns, Indexes, ForeignKeys, Checks, Triggers, Reads, Routines string

	ColumnsOf     string // columns of one view or virtual table, whose name is the parameter
	HasStatistics string // returns rows if Statistics can run
	Statistics    string

	Untyped bool // columns accept values of any type; see domain.Catalog
}

// ownPrefix is the prefix of the tables of habeas.
const ownPrefix = "habeas_"

// isOwn returns the condition that a name starts with ownPrefix.
func isOwn(name string) string { return "lower(substr(" + name + ", 1, 7)) = " + literal(ownPrefix) }

func (postgres) ColumnType(declared string) (t domain.ColumnType, length int) {
	return sqltype.Parse(declared)
}

// ColumnType covers two peculiarities of SQLite. Any name can be a declared type, and all integers have 64 bits.
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
