// Package sqltext writes the text of statements: for the tables of habeas, and for those of the application as a data
// map describes them, in the dialect of either database. It also reads what drivers return of a column. It does no I/O.
//
// What does not depend on a call is written once, when a store is made.
package sqltext

import (
	"strconv"
	"strings"
	"time"

	bundialect "github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
)

// The dialects of the databases.
var (
	Postgres Dialect = postgres{}
	SQLite   Dialect = sqlite{}
)

// Dialect is all that differs between the two databases.
type Dialect interface {
	// Migrations names the folder of migrations.
	Migrations() string

	// OwnTables is the statement that finds the tables of habeas: those in the schema, or for "" those that unqualified
	// names can mean, in the order in which they do. Its columns are the schema and the table.
	OwnTables(schema string) string

	// CanMigrate reports whether the tables of a schema can be brought up to date.
	CanMigrate(schema string) bool

	// BeforeMigration is what comes first in the transaction of migrations.
	BeforeMigration() []string

	// OneMigration comes next if there is something to do: one process at a time.
	OneMigration() []string

	// PrepareMigration comes last: unqualified names mean the schema, which is made if it is not there.
	PrepareMigration(schema string) []string

	// Instant is the parameter for a point in time.
	Instant(t time.Time) any

	// instantType is the type to cast such a parameter to where it could be anything.
	instantType() string

	// due begins a statement with the common table expression due: the ids of the entries of a claim. Its parameters are
	// the instant, the limit, the end of the lease, its token and the latest next attempt; Due adds others to args.
	due(tables Tables, c Claim, args *Args) string

	// unclaimed begins a statement with the common table expression due: the ids of up to limit entries, of which there
	// are $2, that isUnclaimed, oldest first.
	unclaimed(tables Tables, limit int) string

	// amongst is the condition that the column, a text, has one of the values that a query returns.
	amongst(column, query string) string

	// ofOperations is the condition that an entry is unfinished, and of one of the subjects and operations in a list.
	ofOperations(tables Tables, list string) string

	// oneByOne is a condition that is always true, and has the rows that others hold for be looked up in an index. The
	// column is any text.
	oneByOne(column string) string

	// elements is the query of the texts in a parameter, which is an array in JSON.
	elements(parameter string) string

	// beginning is an instant before any other, as a constant.
	beginning() string

	// HasStandbys reports whether a commit can wait for standbys, and whether there can be replicas to read from.
	HasStandbys() bool

	// forUpdate is what a select ends with that locks its rows.
	forUpdate() string

	// Notification is the statement that wakes the workers of other processes, or nothing.
	Notification() string

	// Joins reports whether what changes rows can be a common table expression, so that several travel as one statement.
	Joins() bool

	// isolation is the statement that returns the isolation level of a transaction; nothing where all see the same.
	isolation() string

	// lockLedger is an expression that locks a subject's ledger until the transaction ends; empty where one transaction
	// writes at a time, and for kinds that are no ledger.
	lockLedger(ledger Kind, subject string) string

	// intake is how a mark of an erasure gets its number of intake: a column and its value, each after a comma, or nothing
	// where the table sees to it, and the condition under which the number is taken, which is always true.
	intake(tables Tables) (column, number, taken string)

	// settledIntake is the statement that returns the number of intake up to which no transaction can leave a mark any
	// more, or NULL if there is no mark; nothing where one transaction writes at a time.
	settledIntake(tables Tables) string

	// fingerprint is the expression for a text that is another one once the catalog of the tables has changed in anything
	// that inspection returns. The empty text stands for a catalog that must be read each time.
	fingerprint(tables []domain.Table) string

	// Schemas is the statement that lists where a table may be, the first place first; nothing where a name says it.
	Schemas(table string) (text string)

	// Inspection is the statement that reads a table of the catalog, with its one parameter; see catalog.Cache.
	Inspection(schema, table string) (text, parameter string)

	// Catalog are the statements that read the live catalog of a schema; see Schemas.
	Catalog(schema string) Catalog

	// ColumnType is the type of the data map for a declared type, or empty if there is none, and the length of a limited
	// text.
	ColumnType(declared string) (t domain.ColumnType, length int)

	// PlaceOf is a table in a statement that searches its rows, each of which is one row of one table.
	PlaceOf(table domain.CatalogTable) string

	// Searched reports whether a column can hold text.
	Searched(column domain.CatalogColumn) bool

	// HasJSONB is the statement that returns rows if there is a binary form of JSON; nothing where the database writes it
	// as text by itself.
	HasJSONB() string

	// Sought is the parameter for a value that is sought.
	Sought(value string) string

	// Counts is the statement that counts the rows of a place in whose columns values are found, each of them in each
	// column. It returns one row.
	Counts(place Place, values int, hasJSONB bool) string

	// Quotes are the characters that quote names, with those that end them.
	Quotes() map[byte]byte

	// encoded is the text whose bytes are given as hexadecimal digits.
	encoded(digits string) string

	// SameName reports whether two names are those of one column.
	SameName(a, b string) bool

	// Comparable reports whether the database finds just the right rows where it compares a key, which holds values of the
	// type t, with a column that refers to it. The declared types are those of the database.
	Comparable(t domain.ColumnType, keyType, columnType string) bool

	// Narrows reports whether a column of one type makes the same number of several texts of a key of another.
	Narrows(keyType, columnType string) bool

	// Keeps reports whether a key column of the declared type keeps all values of the type t as they are written.
	Keeps(t domain.ColumnType, keyType string) bool

	// bytewise is a text that is compared byte by byte, whatever the collation of its column is.
	bytewise(text string) string

	// exactly is the condition that a text equals a parameter byte by byte.
	exactly(text, parameter string) string

	// expired is the condition that the instant in a column is not after the one in a parameter; NULL is none. The type is
	// that of the column in the database; it may be empty.
	expired(column, parameter, sqlType string) string

	// isConstant is the condition that a column holds a constant, in whatever form its type writes it.
	isConstant(column, constant, sqlType string) string

	// hasForm is the condition that a text column consists of the fixed parts, with so many hexadecimal digits between
	// each two of them. The parameter makes a parameter of a pattern.
	hasForm(column string, fixed []string, digits int, parameter func(pattern any) string) string

	// CheckDeferred is the statement that has deferred constraints and triggers checked now; nothing where there is none.
	CheckDeferred() string

	// BrokenKeys is the statement that counts the rows of a schema that break a foreign key which the commit checks. Its
	// columns are: the table, the table it refers to, the number of the key in its table, and the rows. It is used where
	// CheckDeferred is empty.
	BrokenKeys(schema string) string

	// ConstraintTriggers is the statement that lists the triggers, of tables and of the tables below them, that can be
	// deferred. Its columns are: table, name, the constraint's schema and name, whether it is deferred by default, and
	// whether no other kind of constraint shares the name. It is used where checkDeferred is not empty.
	ConstraintTriggers(tables []domain.Table) string

	// writtenHere is the condition that a row of the table called t0, which may have come after an earlier statement, was
	// written by this transaction. It must not be asked of a view.
	writtenHere() string

	// Lacks is the statement that returns why the database refuses this role what it needs of a table; nothing or NULL for
	// no reason.
	Lacks(table string, privileges []string) string

	// written is the table of an UPDATE or a DELETE, and what the statement calls it.
	written(table string) (target, name string)

	// surrogate is the expression that anonymizes a column: one that fits its type and, for texts and UUIDs, is
	// different in every row.
	surrogate(column domain.Column) string

	// digits is the expression for 32 hexadecimal digits that are different in every row.
	digits() string

	// exported is the expression that reads a column for an export. It has a type that does not depend on the column's, as
	// columns of different tables follow each other in one statement.
	exported(column domain.Column) string

	// argument is a whole number, another number, a text or a truth value as a parameter for a column of any type.
	argument(value any) any

	// jSON is what a driver returns of a document in a JSON column.
	jSON(document string) any

	// read turns what such an expression returned for a type of column into a form in which drivers return it otherwise.
	read(t domain.ColumnType, value any) any
}

// Quote quotes one identifier.
func Quote(name string) string { return string(bundialect.AppendName(nil, name, '"')) }

// quoteTable quotes a table name, which a schema may qualify.
func quoteTable(name string) string { return string(bundialect.AppendIdent(nil, name, '"')) }

// literal quotes a text as a constant.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// parameter is the n-th parameter of a statement.
func parameter(n int) string { return "$" + strconv.Itoa(n) }
