// Package syntax has the parts that the statements of all packages share: quoted names and constants, placeholders, the
// names of the tables of habeas, instants, and the differences between PostgreSQL and SQLite in them. It does no I/O.
package syntax

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	bundialect "github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
)

// The dialects.
var (
	Postgres Dialect = BasePostgres{}
	SQLite   Dialect = BaseSQLite{}
)

// Dialect has the differences between PostgreSQL and SQLite that concern many statements.
type Dialect interface {
	// Instant converts a point in time to a parameter for a column in the tables of habeas.
	Instant(t time.Time) any

	// InstantType returns the SQL type of the parameters that Instant returns. Statements cast a parameter to this type if
	// the database cannot infer it.
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

	// CombinesChanges reports whether an INSERT, UPDATE or DELETE can be a common table expression. One statement can then
	// contain several of them.
	CombinesChanges() bool

	// SameName reports whether the database treats a and b as the name of the same column.
	SameName(a, b string) bool
}

// Quote quotes an identifier.
func Quote(name string) string { return string(bundialect.AppendName(nil, name, '"')) }

// QuoteTable quotes a table name, which may be qualified with a schema.
func QuoteTable(name string) string { return string(bundialect.AppendIdent(nil, name, '"')) }

// Literal quotes a text as a constant.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Placeholder returns the Placeholder of the n-th parameter of a statement: $n.
func Placeholder(n int) string { return "$" + strconv.Itoa(n) }

// Fill replaces each {name} in a statement by a text. The parameter replacements is a list of pairs of a name and its
// text. Fill does not change other braces.
func Fill(statement string, replacements ...string) string {
	var filled strings.Builder
	rest := strings.TrimSpace(statement)
	for {
		before, after, found := strings.Cut(rest, "{")
		filled.WriteString(before)
		if !found {
			return filled.String()
		}
		name, behind, _ := strings.Cut(after, "}")
		text, ok := replacementOf(name, replacements)
		if !ok {
			text, behind = "{", after
		}
		filled.WriteString(text)
		rest = behind
	}
}

func replacementOf(name string, replacements []string) (text string, ok bool) {
	for i := 0; i+1 < len(replacements); i += 2 {
		if replacements[i] == name {
			return replacements[i+1], true
		}
	}
	return "", false
}

// Args collects the parameters of a statement.
type Args []any

// Add appends a parameter and returns its placeholder with a cast, such as CAST($6 AS text).
func (a *Args) Add(value any, sqlType string) string {
	*a = append(*a, value)
	return "CAST($" + strconv.Itoa(len(*a)) + " AS " + sqlType + ")"
}

// JSON encodes a value that a store keeps as JSON. The parameter op is the name of the operation in the error.
func JSON(op string, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", &domain.Error{Op: op, Message: "a value cannot be stored as JSON", Err: err}
	}
	return string(text), nil
}

// Optional returns nil for the zero value, and otherwise a pointer to the value.
func Optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// Nullable returns the parameter of a statement for a text that may be NULL. It copies the text, because the caller may
// change the record while the session buffers the row.
func Nullable(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

// TextList encodes texts as a JSON array, so that a statement takes any number of texts as one parameter.
func TextList(texts []string) string {
	list, err := json.Marshal(texts)
	if err != nil {
		panic(err) // cannot happen: every string has a JSON form
	}
	return string(list)
}

// Text returns the text form of a value from a driver.
func Text(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []byte:
		return string(value)
	case time.Time:
		return value.UTC().Format(time.RFC3339Nano)
	default:
		return fmt.Sprint(value)
	}
}
