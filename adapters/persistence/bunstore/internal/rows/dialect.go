package rows

import (
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// dialect has the differences between PostgreSQL and SQLite in the statements on the tables of a data map.
type dialect interface {
	// bytewise adds a collation that compares bytes to a text expression, so that the collation of the column has no
	// effect.
	bytewise(text string) string

	// equalsExactly returns the condition that a text equals a parameter byte by byte.
	equalsExactly(text, parameter string) string

	// textFromHex returns the expression for the text whose bytes are the hexadecimal digits.
	textFromHex(digits string) string

	// isNotAfter returns the condition that the instant in a column is before or equal to the instant in a parameter. The
	// condition is not true for NULL. sqlType is the type of the column in the database, or "" if it is unknown.
	isNotAfter(column, parameter, sqlType string) string

	// equalsConstant returns the condition that a column holds a constant. The condition uses the form in which a column
	// of the database type sqlType stores the constant.
	equalsConstant(column, constant, sqlType string) string

	// matchesForm returns the condition that a text column consists of fixedParts, with the given number of hexadecimal
	// digits between each two parts. addParameter returns the placeholder of the new parameter.
	matchesForm(column string, fixedParts []string, digits int, addParameter func(value any) string) string

	// changedTable returns the target table of an UPDATE or a DELETE, and the name of that table in the rest of the
	// statement.
	changedTable(table string) (target, name string)

	// surrogate returns the expression for the value that overwrites a column in an anonymization. The value fits the type
	// of the column. A text or a UUID differs in each row.
	surrogate(column domain.Column) string

	// randomDigits returns the expression for 32 hexadecimal digits that differ in each row.
	randomDigits() string

	// earliestAdded returns the expression for the earliest instant that a value in a column of creation times can mean,
	// in the form of the parameters that Instant returns. It does the same as domain.EarliestAddedAt, whatever the time
	// zone of the session. The expression is NULL if the column has no readable instant. It never fails.
	earliestAdded(column string) string

	// addedValue returns the expression for the value in a column of creation times, in a form that domain.ReadAddedAt
	// reads. The column can have any type.
	addedValue(column string) string

	// parameterValue converts a number, a text or a boolean to a query parameter that the database accepts for a column,
	// whatever the type of the column.
	parameterValue(value any) any
}

func dialectOf(d syntax.Dialect) dialect {
	if d == syntax.Postgres {
		return postgres{}
	}
	return sqlite{}
}
