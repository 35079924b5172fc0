// Package sqltext builds the text of SQL statements, in the dialect of PostgreSQL or SQLite. The statements access the
// tables of habeas, and the tables of the application that a data map describes. The package also converts the values
// that drivers return for a column. It does no I/O.
//
// A text that does not depend on the arguments of a call is built only once, when the store is created.
package sqltext

import (
	"strconv"
	"strings"
	"time"

	bundialect "github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain/datamap"
)

// The dialects.
var (
	Postgres Dialect = postgres{}
	SQLite   Dialect = sqlite{}
)

// Dialect builds the SQL texts that differ between PostgreSQL and SQLite. Its methods return "" for a statement that
// the database does not need.
type Dialect interface {
	migrations
	sequences
	cascades

	// Instant converts a point in time to a parameter for a column in the tables of habeas.
	Instant(t time.Time) any

	// instantType returns the SQL type of the parameters that Instant returns. Statements cast a parameter to this type if
	// the database cannot infer it.
	instantType() string

	// MarkInstant returns the two parameters of erasureInstant for an erasure at the given instant, by the clock of the
	// process. If exact is true, the mark gets this instant.
	MarkInstant(at time.Time, exact bool) [2]any
	erasureInstant(tables Tables, first, second string) string

	// dueEntries returns the beginning of a statement: a WITH clause that ends with the common table expression due, which
	// contains the ids of the outbox entries to claim. $1 is the instant of the claim, $2 the end of the lease, $3 the
	// token of the lease, and $4 the result of domain.ClaimQuery.LatestNextAttempt. dueEntries appends further parameters
	// to args.
	dueEntries(tables Tables, takes []BoundedTake, args *Args) (string, error)

	// unclaimedEntries returns the beginning of a statement: a WITH clause that ends with the common table expression due,
	// which contains the ids of up to $2 outbox entries that match isUnclaimed, oldest first. The parameter limit must
	// equal $2.
	unclaimedEntries(tables Tables, limit int) string

	// isInQuery returns the condition that a text column has one of the values that a query returns.
	isInQuery(column, query string) string

	// isOfOperations returns a condition on outbox entries that is equivalent to
	//
	//	status <> 'succeeded' AND (subject_id, operation) IN (<pairs>)
	//
	// <pairs> is a subquery.
	isOfOperations(tables Tables, pairs string) string

	// preferIndex returns a condition that is always true. A planner that sees this condition uses an index for the other
	// conditions. The parameter column can be any text column of the table.
	preferIndex(column string) string

	// arrayElements returns the query that selects the texts of a parameter, which is a JSON array.
	arrayElements(parameter string) string

	// earliestInstant returns a constant that is earlier than all instants. Earlier versions wrote this constant to the
	// column tried_since of a requeued outbox entry. It means the same as NULL: the entry was not claimed yet.
	earliestInstant() string

	// HasStandbys reports whether the database can have read replicas and synchronous standbys.
	HasStandbys() bool

	// forUpdate returns the clause at the end of a SELECT that locks the selected rows.
	forUpdate() string

	// Notification returns the statement that wakes the workers of other processes.
	Notification(tables Tables) string

	// CombinesChanges reports whether an INSERT, UPDATE or DELETE can be a common table expression. One statement can then
	// contain several of them.
	CombinesChanges() bool

	// recording returns the parts of Installation that keep sessions from recording two data maps at the same time.
	recording(tables Tables) (announce, rivals, ifFree string)

	// randomID returns the expression for the random id of an installation.
	randomID() string

	// transaction returns the statement that reads the isolation level of a transaction, and whether the database has
	// deferrable triggers. It returns "" if every isolation level is sufficient and no trigger is deferrable.
	transaction() string

	// lockLedger returns an expression that locks a ledger (consents or restrictions) of a subject until the transaction
	// ends. It returns "" if the kind is not a ledger, or if the database allows only one writer at a time.
	lockLedger(tables Tables, ledger Kind, subject string) string

	// intakeParts returns the parts of the INSERT of a mark that set the intake number:
	//
	//	INSERT INTO habeas_subject_erasures (..., erasures<column>) SELECT ..., 1<number> WHERE <lockCondition>
	//
	// Intake numbers count the marks in the order in which the store received them. If the table generates the number,
	// column and number are "". The lockCondition is always true, and may take a lock. The database evaluates the
	// condition before the table generates the number.
	intakeParts(tables Tables) (column, number, lockCondition string)

	// settledIntake returns the statement that reads the settled intake number. This is a number so low that no open
	// transaction can still commit a mark with this number or a lower number. The statement returns NULL if the table has
	// no mark. settledIntake returns "" if the database allows only one writer at a time.
	settledIntake(tables Tables) string

	// fingerprint returns the expression for a text that changes if the live catalog (the definitions) of the tables
	// changes in a property that Inspection reads. If the value of the expression is the empty text, the catalog must be
	// read each time.
	fingerprint(tables []datamap.Table, own Tables) string

	// Schemas returns the statement that lists the schemas to search for a table, in search order. It returns "" if the
	// database finds the schema from the name of the table.
	Schemas(table string) (text string)

	// Inspection returns the statement that reads a table from the live catalog (the table definitions), and the only
	// parameter of the statement. See catalog.Cache.
	Inspection(schema, table string) (text, parameter string)

	// ColumnsOf returns the statement that lists the columns of a table that may hold a text, and the only parameter of
	// the statement. It includes generated columns.
	ColumnsOf(table string) (text, parameter string)

	// TemporaryTables returns the statement that lists the temporary tables that may have the name of a table of habeas.
	// It returns "" if the names of the tables of habeas have a schema, so that no temporary table can hide them.
	TemporaryTables(tables Tables) string

	// heldText returns the expression for the text of a cell, or for NULL if the cell cannot hold a text. The column is
	// one that ColumnsOf lists.
	heldText(column string) string

	// byteLength returns the expression for the number of bytes of a text.
	byteLength(text string) string

	// contains returns the condition that a text contains the text of a parameter.
	contains(text, parameter string) string

	// StoredName returns the name that an object has in the database if a statement creates it with the given name. It
	// differs from the given name if the database cuts long names.
	StoredName(name string) string

	// Catalog returns the statements that read the live catalog of a schema, which is a result of Schemas.
	Catalog(schema string) Catalog

	// ColumnType returns the column type that a data map uses for a declared type of the database. It returns "" if data
	// maps have no such type. The second result is the maximum length of a text, or 0.
	ColumnType(declared string) (t datamap.ColumnType, length int)

	// FromItem returns the table as it appears in the FROM clause of a search. A search of all tables then reads each row
	// only once, even if a table inherits from another table.
	FromItem(table datamap.CatalogTable) string

	CanHoldText(column datamap.CatalogColumn) bool

	// FirstRow returns a statement that reads one row. It fails if the table is on a server that does not answer. Returns
	// "" if the database has no tables on other servers.
	FirstRow(fromItem string) string

	// ForeignPartitions returns a statement that lists, in the form of FromItem, the partitions of a table that are on
	// other servers. Returns "" if the database has no such partitions.
	ForeignPartitions(table datamap.CatalogTable) string

	// SearchPatterns returns the patterns for a value: the parameters of the statement of Counts for this value. Their
	// number is the same for all values.
	SearchPatterns(value string) []any

	// Counts returns the statement that counts the rows of a table that contain a value. The statement returns one row,
	// with a count for each pair of a column and a value.
	Counts(table SearchedTable, values int) string

	// Quotes returns a map from each character that opens a quoted name to the character that closes the name.
	Quotes() map[byte]byte

	// textFromHex returns the expression for the text whose bytes are the hexadecimal digits.
	textFromHex(digits string) string

	// SameName reports whether the database treats a and b as the name of the same column.
	SameName(a, b string) bool

	// ComparesExactly reports whether the database finds exactly the matching rows when it compares a key with a column
	// that refers to the key. The parameter t is the type of the key in the data map. The parameters keyType and
	// columnType are the types that the database declares for the key and the column.
	ComparesExactly(t datamap.ColumnType, keyType, columnType string) bool

	// ConvertsTexts reports whether different texts become the same value in a column of the declared type columnType. For
	// example, '1' and '01' become the same number.
	ConvertsTexts(columnType string) bool

	// StoresUnchanged reports whether a key column of the declared type keyType stores all values of type t without a
	// change.
	StoresUnchanged(t datamap.ColumnType, keyType string) bool

	// bytewise adds a collation that compares bytes to a text expression, so that the collation of the column has no
	// effect.
	bytewise(text string) string

	// equalsExactly returns the condition that a text equals a parameter byte by byte.
	equalsExactly(text, parameter string) string

	// isNotAfter returns the condition that the instant in a column is before or equal to the instant in a parameter. The
	// condition is not true for NULL. sqlType is the type of the column in the database, or "" if it is unknown.
	isNotAfter(column, parameter, sqlType string) string

	// earliestAdded returns the expression for the earliest instant that a value in a column of creation times can mean,
	// in the form of the parameters that Instant returns. It does the same as datamap.EarliestAddedAt, whatever the time
	// zone of the session. The expression is NULL if the column has no readable instant. It never fails.
	earliestAdded(column string) string

	// addedValue returns the expression for the value in a column of creation times, in a form that datamap.ReadAddedAt
	// reads. The column can have any type.
	addedValue(column string) string

	// equalsConstant returns the condition that a column holds a constant. The condition uses the form in which a column
	// of the database type sqlType stores the constant.
	equalsConstant(column, constant, sqlType string) string

	// matchesForm returns the condition that a text column consists of fixedParts, with the given number of hexadecimal
	// digits between each two parts. addParameter returns the placeholder of the new parameter.
	matchesForm(column string, fixedParts []string, digits int, addParameter func(value any) string) string

	// CheckDeferred returns the statement that makes the database check deferred constraints immediately and run deferred
	// triggers immediately. It returns "" if the database does not have such a statement.
	CheckDeferred() string

	// BrokenForeignKeys returns the statement that counts the rows of a schema that violate a deferred foreign key. The
	// columns of the result are the table, the referenced table, the number of the foreign key in its table, and the
	// number of rows. BrokenForeignKeys is called only if CheckDeferred returns no statement ("").
	BrokenForeignKeys(schema string) string

	// ConstraintTriggers returns the statement that lists the deferrable triggers of all tables. A trigger is mapped if it
	// belongs to one of the given tables, to a table that one of them reads as a view, or to a table that inherits from
	// one of these tables. ConstraintTriggers is called only if CheckDeferred returns a statement. The columns of the
	// result are:
	//
	//   - the table and the trigger
	//   - the schema and the name of the constraint
	//   - whether the trigger is deferred by default
	//   - whether SET CONSTRAINTS with this name affects only constraint triggers with the same default
	//   - whether the trigger is mapped
	//   - the code of a trigger that is not mapped, in the form that Inspection returns
	ConstraintTriggers(tables []datamap.Table) string

	// writtenInTransaction returns the condition that this transaction has written a row of the table t0. The condition
	// may also be true for a row that another transaction committed during this transaction. It does not work on a view.
	writtenInTransaction() string

	// AccessProblem returns the statement that explains why this role cannot use a table. The statement returns no row or
	// NULL if the role has the privileges.
	AccessProblem(table string, privileges []string) string

	// changedTable returns the target table of an UPDATE or a DELETE, and the name of that table in the rest of the
	// statement.
	changedTable(table string) (target, name string)

	// surrogate returns the expression for the value that overwrites a column in an anonymization. The value fits the type
	// of the column. A text or a UUID differs in each row.
	surrogate(column datamap.Column) string

	// randomDigits returns the expression for 32 hexadecimal digits that differ in each row.
	randomDigits() string

	// exportedValue returns the expression that reads a column for an export. The SQL type of the expression is the same
	// for all columns, because a UNION combines columns of different tables.
	exportedValue(column datamap.Column) string

	// parameterValue converts a number, a text or a boolean to a query parameter that the database accepts for a column,
	// whatever the type of the column.
	parameterValue(value any) any

	// storedJSON returns the value that a driver returns for a JSON document after the document is stored in a JSON
	// column.
	storedJSON(document string) any

	// fromExported converts the value of an expression from exportedValue to the form in which drivers return the column
	// itself.
	fromExported(t datamap.ColumnType, value any) any
}

// Quote quotes an identifier.
func Quote(name string) string { return string(bundialect.AppendName(nil, name, '"')) }

// quoteTable quotes a table name, which may be qualified with a schema.
func quoteTable(name string) string { return string(bundialect.AppendIdent(nil, name, '"')) }

// literal quotes a text as a constant.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// placeholder returns the placeholder of the n-th parameter of a statement: $n.
func placeholder(n int) string { return "$" + strconv.Itoa(n) }
