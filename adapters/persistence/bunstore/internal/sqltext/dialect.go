// Package sqltext builds the text of SQL statements, in the dialect of PostgreSQL or SQLite. The statements access the
// tables of habeas, and the tables of the application that a data map describes. The package also converts the values
// that drivers return for a column. It does no I/O.
//
// A text that does not depend on the arguments of a call is built only once, when the store is created.
package sqltext

import (
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// The dialects.
var (
	Postgres Dialect = postgres{}
	SQLite   Dialect = sqlite{}
)

// Dialect builds the SQL texts that differ between PostgreSQL and SQLite. Its methods return "" for a statement that
// the database does not need.
type Dialect interface {
	syntax.Dialect
	cascades

	// MarkInstant returns the two parameters of erasureInstant for an erasure at the given instant, by the clock of the
	// process. If exact is true, the mark gets this instant.
	MarkInstant(at time.Time, exact bool) [2]any
	erasureInstant(tables syntax.Tables, first, second string) string

	// transaction returns the statement that reads the isolation level of a transaction, and whether the database has
	// deferrable triggers. It returns "" if every isolation level is sufficient and no trigger is deferrable.
	transaction() string

	// intakeParts returns the parts of the INSERT of a mark that set the intake number:
	//
	//	INSERT INTO habeas_subject_erasures (..., erasures<column>) SELECT ..., 1<number> WHERE <lockCondition>
	//
	// Intake numbers count the marks in the order in which the store received them. If the table generates the number,
	// column and number are "". The lockCondition is always true, and may take a lock. The database evaluates the
	// condition before the table generates the number.
	intakeParts(tables syntax.Tables) (column, number, lockCondition string)

	// settledIntake returns the statement that reads the settled intake number. This is a number so low that no open
	// transaction can still commit a mark with this number or a lower number. The statement returns NULL if the table has
	// no mark. settledIntake returns "" if the database allows only one writer at a time.
	settledIntake(tables syntax.Tables) string

	// ColumnsOf returns the statement that lists the columns of a table that may hold a text, and the only parameter of
	// the statement. It includes generated columns.
	ColumnsOf(table string) (text, parameter string)

	// heldText returns the expression for the text of a cell, or for NULL if the cell cannot hold a text. The column is
	// one that ColumnsOf lists.
	heldText(column string) string

	// byteLength returns the expression for the number of bytes of a text.
	byteLength(text string) string

	// contains returns the condition that a text contains the text of a parameter.
	contains(text, parameter string) string

	// textFromHex returns the expression for the text whose bytes are the hexadecimal digits.
	textFromHex(digits string) string

	// bytewise adds a collation that compares bytes to a text expression, so that the collation of the column has no
	// effect.
	bytewise(text string) string

	// equalsExactly returns the condition that a text equals a parameter byte by byte.
	equalsExactly(text, parameter string) string

	// isNotAfter returns the condition that the instant in a column is before or equal to the instant in a parameter. The
	// condition is not true for NULL. sqlType is the type of the column in the database, or "" if it is unknown.
	isNotAfter(column, parameter, sqlType string) string

	// earliestAdded returns the expression for the earliest instant that a value in a column of creation times can mean,
	// in the form of the parameters that Instant returns. It does the same as domain.EarliestAddedAt, whatever the time
	// zone of the session. The expression is NULL if the column has no readable instant. It never fails.
	earliestAdded(column string) string

	// addedValue returns the expression for the value in a column of creation times, in a form that domain.ReadAddedAt
	// reads. The column can have any type.
	addedValue(column string) string

	// equalsConstant returns the condition that a column holds a constant. The condition uses the form in which a column
	// of the database type sqlType stores the constant.
	equalsConstant(column, constant, sqlType string) string

	// matchesForm returns the condition that a text column consists of fixedParts, with the given number of hexadecimal
	// digits between each two parts. addParameter returns the placeholder of the new parameter.
	matchesForm(column string, fixedParts []string, digits int, addParameter func(value any) string) string

	// writtenInTransaction returns the condition that this transaction has written a row of the table t0. The condition
	// may also be true for a row that another transaction committed during this transaction. It does not work on a view.
	writtenInTransaction() string

	// changedTable returns the target table of an UPDATE or a DELETE, and the name of that table in the rest of the
	// statement.
	changedTable(table string) (target, name string)

	// surrogate returns the expression for the value that overwrites a column in an anonymization. The value fits the type
	// of the column. A text or a UUID differs in each row.
	surrogate(column domain.Column) string

	// randomDigits returns the expression for 32 hexadecimal digits that differ in each row.
	randomDigits() string

	// exportedValue returns the expression that reads a column for an export. The SQL type of the expression is the same
	// for all columns, because a UNION combines columns of different tables.
	exportedValue(column domain.Column) string

	// parameterValue converts a number, a text or a boolean to a query parameter that the database accepts for a column,
	// whatever the type of the column.
	parameterValue(value any) any

	// storedJSON returns the value that a driver returns for a JSON document after the document is stored in a JSON
	// column.
	storedJSON(document string) any

	// fromExported converts the value of an expression from exportedValue to the form in which drivers return the column
	// itself.
	fromExported(t domain.ColumnType, value any) any
}

func plain(d Dialect) syntax.Dialect {
	if d == Postgres {
		return syntax.Postgres
	}
	return syntax.SQLite
}
