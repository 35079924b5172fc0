// Package sqltext writes the text of SQL statements, in the dialect of PostgreSQL or SQLite. The statements access the
// tables of habeas, and the tables of the application that a data map describes. The package also converts the values
// that drivers return for a column. It does no I/O.
//
// Texts that do not depend on a call are written once, when a store is created.
package sqltext

import (
	"strconv"
	"strings"
	"time"

	bundialect "github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
)

// The dialects.
var (
	Postgres Dialect = postgres{}
	SQLite   Dialect = sqlite{}
)

// Dialect covers the differences between the two databases. A method that returns a statement returns the empty text if
// the database does not need the statement.
type Dialect interface {
	// Migrations returns the name of the folder of migrations.
	Migrations() string

	// OwnTables returns the statement that finds the tables of habeas in a schema. If schema is "", it finds the tables
	// that unqualified names can refer to, in the order of the search path. Its columns are the schema and the table.
	OwnTables(schema string) string

	// CanMigrate reports whether habeas can migrate the tables of a schema.
	CanMigrate(schema string) bool

	// BeforeMigration returns the first statements in the transaction of migrations.
	BeforeMigration() []string

	// OneMigration returns the statements that follow if there are migrations to apply. They exclude other processes.
	OneMigration() []string

	// PrepareMigration returns the last statements before the migrations. They create the schema if it does not exist, and
	// make unqualified names refer to it.
	PrepareMigration(schema string) []string

	// Instant returns the parameter for a point in time.
	Instant(t time.Time) any

	// instantType returns the type of such a parameter, for a cast if the database cannot infer the type.
	instantType() string

	// due returns the beginning of a statement, with the common table expression due: the ids of the entries of a claim.
	// Parameters $1 to $5 are the instant of the claim, the limit, the end of the lease, the token of the lease and the
	// latest next attempt. due appends its other parameters to args.
	due(tables Tables, c Claim, args *Args) string

	// unclaimed returns the beginning of a statement, with the common table expression due: the ids of the entries that
	// match isUnclaimed, oldest first. limit must equal parameter $2, which limits the number of ids.
	unclaimed(tables Tables, limit int) string

	// amongst returns the condition that a text column has one of the values that a query returns.
	amongst(column, query string) string

	// ofOperations returns the condition that an entry is unfinished, and belongs to one of the subjects and operations in
	// a list.
	ofOperations(tables Tables, list string) string

	// oneByOne returns a condition that is always true. The condition makes the planner look up the rows of the other
	// conditions in an index. The column can be any text column.
	oneByOne(column string) string

	// elements returns the query of the texts in a parameter, which is a JSON array.
	elements(parameter string) string

	// beginning returns a constant instant before all other instants.
	beginning() string

	// HasStandbys reports whether a commit can wait for standbys, and whether there can be read replicas.
	HasStandbys() bool

	// forUpdate returns the clause at the end of a SELECT that locks its rows.
	forUpdate() string

	// Notification returns the statement that wakes the workers of other processes.
	Notification() string

	// Joins reports whether a statement that changes rows can be a common table expression. Several changes can then be
	// sent as one statement.
	Joins() bool

	// isolation returns the statement that reads the isolation level of a transaction. isolation returns the empty text if
	// statements see the same snapshot at every level.
	isolation() string

	// lockLedger returns an expression that locks a subject's ledger until the transaction ends. lockLedger returns the
	// empty text for kinds other than ledgers, and if the database allows only one writer at a time.
	lockLedger(ledger Kind, subject string) string

	// intake returns the parts of a statement that give a mark of an erasure its intake number. column and number are the
	// name and the value of the column, each after a comma. Both are empty if the table assigns the number. taken is a
	// condition that is always true. The database evaluates taken before the table assigns the number.
	intake(tables Tables) (column, number, taken string)

	// settledIntake returns the statement that reads the settled intake number. No transaction can leave a mark with that
	// number or a lower number any more. The statement returns NULL if the table has no mark. settledIntake returns the
	// empty text if the database allows only one writer at a time.
	settledIntake(tables Tables) string

	// fingerprint returns the expression for a text that changes whenever the catalog of the tables changes in anything
	// that Inspection returns. The empty text means that the catalog must be read each time.
	fingerprint(tables []domain.Table) string

	// Schemas returns the statement that lists the schemas in which a table may be, in search order. Schemas returns the
	// empty text if the name alone determines the schema.
	Schemas(table string) (text string)

	// Inspection returns the statement that reads a table from the catalog, and its only parameter. See catalog.Cache.
	Inspection(schema, table string) (text, parameter string)

	// Catalog returns the statements that read the live catalog of a schema. See Schemas.
	Catalog(schema string) Catalog

	// ColumnType returns the data map's type for a declared type, and the length of a limited text. The type is empty if
	// the data map has no type for it.
	ColumnType(declared string) (t domain.ColumnType, length int)

	// PlaceOf returns the name of a table in a statement that searches its rows. Each row belongs to exactly one place.
	PlaceOf(table domain.CatalogTable) string

	// Searched reports whether a column can hold text.
	Searched(column domain.CatalogColumn) bool

	// HasJSONB returns the statement that returns rows if the database has functions for binary JSON. HasJSONB returns the
	// empty text if the database converts binary JSON to text by itself.
	HasJSONB() string

	// SearchPattern returns the parameter for a value to search for.
	SearchPattern(value string) string

	// Counts returns the statement that counts the rows of a place that contain a value. The statement returns one row,
	// with a count for each column and each value.
	Counts(place Place, values int, hasJSONB bool) string

	// Quotes returns the characters that open a quoted name, and for each the character that closes the name.
	Quotes() map[byte]byte

	// encoded returns the expression for the text whose bytes are given as hexadecimal digits.
	encoded(digits string) string

	// SameName reports whether two names denote the same column.
	SameName(a, b string) bool

	// Comparable reports whether the database finds exactly the right rows when it compares a key with a column that
	// refers to it. The key holds values of type t. The declared types are those of the database.
	Comparable(t domain.ColumnType, keyType, columnType string) bool

	// Narrows reports whether a column of one type converts several texts of a key of another type to the same number.
	Narrows(keyType, columnType string) bool

	// Keeps reports whether a key column of the declared type keeps all values of type t exactly as written.
	Keeps(t domain.ColumnType, keyType string) bool

	// bytewise returns a text expression that is compared byte by byte, independent of the collation of its column.
	bytewise(text string) string

	// exactly returns the condition that a text equals a parameter byte by byte.
	exactly(text, parameter string) string

	// expired returns the condition that the instant in a column is not after the instant in a parameter. NULL is not an
	// instant. sqlType is the type of the column in the database, or empty.
	expired(column, parameter, sqlType string) string

	// isConstant returns the condition that a column holds a constant, in the form in which the type of the column stores
	// it.
	isConstant(column, constant, sqlType string) string

	// hasForm returns the condition that a text column consists of the fixed parts, with a number of hexadecimal digits
	// between each two parts. parameter appends a parameter for a pattern and returns its placeholder.
	hasForm(column string, fixed []string, digits int, parameter func(pattern any) string) string

	// CheckDeferred returns the statement that checks deferred constraints and triggers immediately. CheckDeferred returns
	// the empty text if the database does not have such a statement.
	CheckDeferred() string

	// BrokenKeys returns the statement that counts the rows of a schema that violate a foreign key which the commit
	// checks. Its columns are the table, the referenced table, the number of the key in its table, and the number of rows.
	// BrokenKeys is called only if CheckDeferred returns the empty text.
	BrokenKeys(schema string) string

	// ConstraintTriggers returns the statement that lists the deferrable triggers of tables, and of the tables below them.
	// Its columns are the table, the trigger, the schema and the name of the constraint, whether it is deferred by
	// default, and whether SET CONSTRAINTS with that name affects only constraints of the same kind. ConstraintTriggers is
	// called only if CheckDeferred does not return the empty text.
	ConstraintTriggers(tables []domain.Table) string

	// writtenHere returns the condition that this transaction has written a row of table t0. The condition can also be
	// true for a row that was written after an earlier statement. writtenHere must not be used on a view.
	writtenHere() string

	// Lacks returns the statement that explains why the database denies this role access to a table that it needs. The
	// statement returns no row or NULL if access is granted.
	Lacks(table string, privileges []string) string

	// written returns the target table of an UPDATE or a DELETE, and its name in the rest of the statement.
	written(table string) (target, name string)

	// surrogate returns the expression that anonymizes a column. The value fits the type of the column. For texts and
	// UUIDs, the value differs in every row.
	surrogate(column domain.Column) string

	// digits returns the expression for 32 hexadecimal digits that are different in every row.
	digits() string

	// exported returns the expression that reads a column for an export. Its type does not depend on the type of the
	// column, because one statement joins columns of different tables.
	exported(column domain.Column) string

	// argument converts an integer, another number, a text or a boolean to a parameter for a column of any type.
	argument(value any) any

	// jSON returns the value that a driver returns for a document in a JSON column.
	jSON(document string) any

	// read converts the value of an exported expression to the form in which drivers return the column itself.
	read(t domain.ColumnType, value any) any
}

// Quote quotes an identifier.
func Quote(name string) string { return string(bundialect.AppendName(nil, name, '"')) }

// quoteTable quotes a table name, which may be qualified with a schema.
func quoteTable(name string) string { return string(bundialect.AppendIdent(nil, name, '"')) }

// literal quotes a text as a constant.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// parameter returns the placeholder of the n-th parameter of a statement.
func parameter(n int) string { return "$" + strconv.Itoa(n) }
