package syntax

import (
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

type BasePostgres struct{}

// IsInQuery returns the condition that a column has one of the values that a query returns. PostgreSQL looks up each of
// these values separately in an index.
func (p BasePostgres) IsInQuery(column, query string) string {
	return column + " = ANY (ARRAY(" + query + ")) AND " + p.PreferIndex(column)
}

// PreferIndex returns a condition that is always true and costs almost nothing to evaluate. Planners estimate a high
// cost for it, and therefore look up rows in an index instead of reading the complete table. Without the condition,
// planners would read the complete table while it is small, and would keep that plan after the table has grown.
// Planners also estimate that the condition is true for half of the rows, and therefore join these rows with a hash
// join.
func (BasePostgres) PreferIndex(column string) string {
	return Fill(`
		CASE WHEN octet_length({column}) < 0
			THEN (SELECT count(*) FROM generate_series(1, octet_length({column}))) = 0
			ELSE TRUE END`, "column", column)
}

func (BasePostgres) ArrayElements(parameter string) string {
	return "SELECT jsonb_array_elements_text(CAST(" + parameter + " AS jsonb))"
}

// Instant truncates t to the precision of the database, because some drivers would otherwise round t.
func (BasePostgres) Instant(t time.Time) any { return domain.Instant(t) }
func (BasePostgres) InstantType() string     { return "timestamptz" }
func (BasePostgres) ForUpdate() string       { return " FOR UPDATE" }
func (BasePostgres) CombinesChanges() bool   { return true }

func (BasePostgres) SameName(a, b string) bool {
	return domain.CutName(a, NameBytes) == domain.CutName(b, NameBytes)
}

// NameBytes is the maximum length of a name in bytes. PostgreSQL cuts longer names in statements.
const NameBytes = 63

// OidClass is the first key of an advisory lock. It is derived from the oid of a table, so that the tables of different
// schemas and data maps have different locks. The table of marks has the lock of intakeParts.
const OidClass = `CAST(CAST(CAST(CAST({table} AS regclass) AS oid) AS bigint) & 2147483647 AS integer)`

type BaseSQLite struct{}

// IsInQuery returns the condition that a column has one of the values that a query returns. It uses IN, because SQLite
// then looks up each of these values separately in an index.
func (BaseSQLite) IsInQuery(column, query string) string { return column + " IN (" + query + ")" }

// PreferIndex returns TRUE (no further condition), because SQLite always prefers an index.
func (BaseSQLite) PreferIndex(string) string { return "TRUE" }

func (BaseSQLite) ArrayElements(parameter string) string {
	return "SELECT value FROM json_each(" + parameter + ")"
}

func (BaseSQLite) Instant(t time.Time) any { return t.UTC().Format(instantFormat) }
func (BaseSQLite) InstantType() string     { return "text" }

// ForUpdate returns "", because SQLite has only one writing transaction at a time.
func (BaseSQLite) ForUpdate() string         { return "" }
func (BaseSQLite) CombinesChanges() bool     { return false }
func (BaseSQLite) SameName(a, b string) bool { return strings.EqualFold(a, b) }
