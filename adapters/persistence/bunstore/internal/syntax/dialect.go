package syntax

import (
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Dialect has the differences between PostgreSQL and SQLite that concern many statements.
type Dialect interface {
	// Instant converts a point in time to a parameter for a column in the tables of habeas.
	Instant(t time.Time) any

	// InstantType returns the SQL type of the parameters that Instant returns. Statements cast a parameter to this type
	// if the database cannot infer it.
	InstantType() string

	// IsInQuery returns the condition that a text column has one of the values that a query returns.
	IsInQuery(column, query string) string

	// PreferIndex returns a condition that is always true. A planner that sees this condition uses an index for the other
	// conditions. The parameter column can be any text column of the table.
	PreferIndex(column string) string

	// ArrayElements returns the query that selects the texts of a parameter, which is a JSON array.
	ArrayElements(parameter string) string

	// ForUpdate returns the clause at the end of a SELECT that locks the selected rows.
	ForUpdate() string

	// CombinesChanges reports whether an INSERT, UPDATE or DELETE can be a common table expression. One statement can
	// then contain several of them.
	CombinesChanges() bool

	// SameName reports whether the database treats a and b as the name of the same column.
	SameName(a, b string) bool
}

// The dialects.
var (
	Postgres Dialect = postgres{}
	SQLite   Dialect = sqlite{}
)

// Choose returns the first value for PostgreSQL, and the second one for SQLite.
func Choose[T any](d Dialect, forPostgres, forSQLite T) T {
	if d == Postgres {
		return forPostgres
	}
	return forSQLite
}

type postgres struct{}

// IsInQuery returns the condition that a column has one of the values that a query returns. PostgreSQL looks up each of
// these values separately in an index.
func (p postgres) IsInQuery(column, query string) string {
	return column + " = ANY (ARRAY(" + query + ")) AND " + p.PreferIndex(column)
}

// PreferIndex returns a condition that is always true and costs almost nothing to evaluate. Planners estimate a high
// cost for it, and therefore look up rows in an index instead of reading the complete table. Without the condition,
// planners would read the complete table while it is small, and would keep that plan after the table has grown.
// Planners also estimate that the condition is true for half of the rows, and therefore join these rows with a hash
// join.
func (postgres) PreferIndex(column string) string {
	return Fill(`
		CASE WHEN octet_length({column}) < 0
			THEN (SELECT count(*) FROM generate_series(1, octet_length({column}))) = 0
			ELSE TRUE END`, "column", column)
}

func (postgres) ArrayElements(parameter string) string {
	return "SELECT jsonb_array_elements_text(CAST(" + parameter + " AS jsonb))"
}

// Instant truncates t to the precision of the database, because some drivers would otherwise round t.
func (postgres) Instant(t time.Time) any { return domain.Instant(t) }
func (postgres) InstantType() string     { return "timestamptz" }
func (postgres) ForUpdate() string       { return " FOR UPDATE" }
func (postgres) CombinesChanges() bool   { return true }

func (postgres) SameName(a, b string) bool {
	return domain.CutName(a, NameBytes) == domain.CutName(b, NameBytes)
}

// NameBytes is the maximum length of a name in bytes. PostgreSQL cuts longer names in statements.
const NameBytes = 63

// OidClass is the first key of an advisory lock. It is derived from the oid of a table, so that the tables of different
// schemas and data maps have different locks. The table of marks has the lock of intakeParts.
const OidClass = `CAST(CAST(CAST(CAST({table} AS regclass) AS oid) AS bigint) & 2147483647 AS integer)`

type sqlite struct{}

// IsInQuery returns the condition that a column has one of the values that a query returns. It uses IN, because SQLite
// then looks up each of these values separately in an index.
func (sqlite) IsInQuery(column, query string) string { return column + " IN (" + query + ")" }

// PreferIndex returns TRUE (no further condition), because SQLite always prefers an index.
func (sqlite) PreferIndex(string) string { return "TRUE" }

func (sqlite) ArrayElements(parameter string) string {
	return "SELECT value FROM json_each(" + parameter + ")"
}

func (sqlite) Instant(t time.Time) any { return t.UTC().Format(instantFormat) }
func (sqlite) InstantType() string     { return "text" }

// ForUpdate returns "", because SQLite has only one writing transaction at a time.
func (sqlite) ForUpdate() string         { return "" }
func (sqlite) CombinesChanges() bool     { return false }
func (sqlite) SameName(a, b string) bool { return strings.EqualFold(a, b) }
