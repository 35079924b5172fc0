package bunstore

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"
	bundialect "github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
)

// sqlDialect is all that differs between the two databases.
type sqlDialect interface {
	// begin opens a transaction.
	begin(ctx context.Context, db *bun.DB) (transaction, error)

	// execAlone runs a statement that writes, in a transaction of its own. It ends with ctx, also where it waits for a
	// lock.
	execAlone(ctx context.Context, db *bun.DB, text string, args []any) error

	// writers is how many transactions can write at the same time, or 0 for any number.
	writers() int

	// migrations names the folder of migrations.
	migrations() string

	// ownTables finds the tables of habeas: those in the schema, or for "" those that unqualified names can mean, in the
	// order in which they do.
	ownTables(ctx context.Context, db *bun.DB, conn bun.IConn, schema string) ([]placed, error)

	// canMigrate refuses a schema whose tables cannot be brought up to date.
	canMigrate(schema string) error

	// beforeMigration is what comes first in the transaction of migrations.
	beforeMigration() []string

	// oneMigration comes next if there is something to do: one process at a time.
	oneMigration() []string

	// prepareMigration comes last: unqualified names mean the schema, which is made if it is not there.
	prepareMigration(schema string) []string

	// instant is the parameter for a point in time.
	instant(t time.Time) any

	// instantType is the type to cast such a parameter to where it could be anything.
	instantType() string

	// due begins a statement with the common table expression due: the ids of the entries of a claim, which are locked.
	// See outbox.Claim for the parameters of due; due adds others to args.
	due(c claim, args *parameters) string

	// unclaimed begins a statement with the common table expression due: the ids of up to limit entries, of which there
	// are $2, that isUnclaimed, oldest first, which are locked.
	unclaimed(table string, limit int) string

	// amongst is the condition that the column, a text, has one of the values that a query returns.
	amongst(column, query string) string

	// ofOperations is the condition that an entry is unfinished, and of one of the subjects and operations in a list.
	ofOperations(table, list string) string

	// oneByOne is a condition that is always true, and has the rows that others hold for be looked up in an index. The
	// column is any text.
	oneByOne(column string) string

	// elements is the query of the texts in a parameter, which is an array in JSON.
	elements(parameter string) string

	// beginning is an instant before any other, as a constant.
	beginning() string

	// hasStandbys reports whether a commit can wait for standbys, and whether there can be replicas to read from.
	hasStandbys() bool

	// forUpdate is what a select ends with that locks its rows.
	forUpdate() string

	// notification is the statement that wakes the workers of other processes, or nothing.
	notification() string

	// joins reports whether what changes rows can be a common table expression, so that several travel as one statement.
	joins() bool

	// isolation is the statement that returns the isolation level of a transaction; nothing where all see the same.
	isolation() string

	// lockLedger is an expression that locks a subject's ledger until the transaction ends; empty where one transaction
	// writes at a time, and for kinds that are no ledger.
	lockLedger(ledger kind, subject string) string

	// fingerprint is the expression for a text that is another one once the catalog of the tables has changed in anything
	// that inspection returns. The empty text stands for a catalog that must be read each time.
	fingerprint(tables []domain.Table) string

	// schemas is the statement that lists where a table may be, the first place first; nothing where a name says it.
	schemas(table string) (text string)

	// inspection is the statement that reads a table of the catalog, with its one parameter; see session.inspect.
	inspection(schema, table string) (text, parameter string)

	// quotes are the characters that quote names, with those that end them.
	quotes() map[byte]byte

	// sameName reports whether two names are those of one column.
	sameName(a, b string) bool

	// leavesDeleted reports whether the database leaves what it deletes in its file, unless PRAGMA secure_delete is set.
	leavesDeleted() bool

	// comparable reports whether the database finds just the right rows where it compares a key, which holds values of the
	// type t, with a column that refers to it. The declared types are those of the database.
	comparable(t domain.ColumnType, keyType, columnType string) bool

	// narrows reports whether a column of one type makes the same number of several texts of a key of another.
	narrows(keyType, columnType string) bool

	// keeps reports whether a key column of the declared type keeps all values of the type t as they are written.
	keeps(t domain.ColumnType, keyType string) bool

	// bytewise is a text that is compared byte by byte, whatever the collation of its column is.
	bytewise(text string) string

	// exactly is the condition that a text equals a parameter byte by byte.
	exactly(text, parameter string) string

	// expired is the condition that the instant in a column is not after the one in a parameter; NULL is none.
	expired(column, parameter string) string

	// isConstant is the condition that a column holds a constant, in whatever form its type writes it.
	isConstant(column, constant, sqlType string) string

	// checkDeferred is the statement that has deferred constraints and triggers checked now; nothing where there is none.
	checkDeferred() string

	// constraintTriggers is the statement that lists the triggers, of tables and of the tables below them, that can be
	// deferred. Its columns are: table, name, the constraint's schema and name, whether it is deferred by default, and
	// whether no other kind of constraint shares the name. It is used where checkDeferred is not empty.
	constraintTriggers(tables []domain.Table) string

	// writtenHere is the condition that a row of the table called t0, which may have come after an earlier statement, was
	// written by this transaction. It must not be asked of a view.
	writtenHere() string

	// lacks is the statement that returns why the database refuses this role what it needs; nothing or NULL for no reason.
	lacks(n need) string

	// surrogate is the expression that anonymizes a column: one that fits its type and, for texts and UUIDs, is
	// different in every row.
	surrogate(column domain.Column) string

	// exported is the expression that reads a column for an export. It has a type that does not depend on the column's, as
	// columns of different tables follow each other in one statement.
	exported(column domain.Column) string

	// read turns what such an expression returned for a type of column into a form in which drivers return it otherwise.
	read(t domain.ColumnType, value any) any
}

// quote quotes one identifier.
func quote(name string) string { return string(bundialect.AppendName(nil, name, '"')) }

// quoteTable quotes a table name, which a schema may qualify.
func quoteTable(name string) string { return string(bundialect.AppendIdent(nil, name, '"')) }

// literal quotes a text as a constant.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// parameter is the n-th parameter of a statement.
func parameter(n int) string { return "$" + strconv.Itoa(n) }

// shortest is the length of the shortest surrogate that begins with "anon-": with 12 digits behind it.
const shortest = len("anon-") + 12

// anonymousText is a surrogate for texts: "anon-" and 32 hexadecimal digits, of which a column with a limited length
// gets what fits, the digits first, because they make it unique.
func anonymousText(hex string, length int) string {
	const prefix, digits = len("anon-"), 32
	switch {
	case length == 0 || length >= prefix+digits:
		return "'anon-' || " + hex
	case length >= shortest:
		return "'anon-' || substr(" + hex + ", 1, " + strconv.Itoa(length-prefix) + ")"
	default:
		return "substr(" + hex + ", 1, " + strconv.Itoa(length) + ")"
	}
}

// commonSurrogate covers the types whose surrogate is a constant that both databases spell alike.
func commonSurrogate(t domain.ColumnType) string {
	switch t { //nolint:exhaustive // the others are up to the dialect
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt, domain.TypeNumber:
		return "0"
	case domain.TypeBoolean:
		return "FALSE"
	case domain.TypeTime:
		return "'1970-01-01 00:00:00+00:00'"
	case domain.TypeJSON, domain.TypeArray:
		return "'{}'"
	default:
		return "''"
	}
}
