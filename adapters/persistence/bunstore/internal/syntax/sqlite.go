package syntax

import (
	"strings"
	"time"
)

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

func (BaseSQLite) InstantType() string { return "text" }

// ForUpdate returns "", because SQLite has only one writing transaction at a time.
func (BaseSQLite) ForUpdate() string { return "" }

func (BaseSQLite) CombinesChanges() bool { return false }

func (BaseSQLite) SameName(a, b string) bool { return strings.EqualFold(a, b) }
