package subject

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// dialect has the differences between PostgreSQL and SQLite in the statements on a subject.
type dialect interface {
	// markInstant returns the parameters of erasureInstant for an erasure at the given instant, by the clock of the
	// process.
	markInstant(at time.Time) []any

	// erasureInstant returns the expression for domain.ErasureInstant. PostgreSQL does not use the second parameter.
	erasureInstant(tables syntax.Tables, first, second string) string

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

	// transaction returns the statement that reads the isolation level of a transaction, and whether the database has
	// deferrable triggers. It returns "" if every isolation level is sufficient and no trigger is deferrable.
	transaction() string

	// exportedValue returns the expression that reads a column for an export. The SQL type of the expression is the same
	// for all columns, because a UNION combines columns of different tables.
	exportedValue(column datamap.Column) string

	// fromExported converts the value of an expression from exportedValue to the form in which drivers return the column
	// itself.
	fromExported(t datamap.ColumnType, value any) any

	// storedJSON returns the value that a driver returns for a JSON document after the document is stored in a JSON
	// column.
	storedJSON(document string) any
}

func dialectOf(d syntax.Dialect) dialect { return syntax.Choose[dialect](d, postgres{}, sqlite{}) }

type postgres struct{}

func (postgres) erasureInstant(tables syntax.Tables, at, _ string) string {
	return tables.Fill(`(
			SELECT CASE
				WHEN {at} NOT BETWEEN clock.now - interval '1 day' AND clock.now + interval '1 day' THEN {at}
				ELSE GREATEST(clock.now, ({last} WHERE l.erased_at <= clock.now + interval '1 day')) END
			FROM (SELECT clock_timestamp() AS now) AS clock)`,
		"at", "CAST("+at+" AS timestamptz)", "last", tables.Fill(lastErasedAt))
}

// markInstant returns only the instant, because the database has a clock of its own.
func (postgres) markInstant(at time.Time) []any { return []any{syntax.Postgres.Instant(at)} }

// intakeParts takes an advisory lock before the table generates the intake number of a mark. Intake numbers count the
// marks in order of arrival. The second key of the lock is the highest committed intake number. The intake number of
// the new mark is higher than this key. The marks of all open transactions therefore have higher numbers than the
// lowest second key, which settledIntake reads.
func (postgres) intakeParts(tables syntax.Tables) (column, number, lockCondition string) {
	return "", "", tables.Fill(`pg_advisory_xact_lock_shared(`+syntax.OidClass+`, CAST(LEAST(2147483647,
			COALESCE((SELECT max(intake) FROM {erasures} WHERE erasures > 0), 0)) AS integer)) IS NOT NULL`,
		"table", syntax.Literal(tables.Erasures))
}

// settledIntake returns the statement that reads the lower of two intake numbers:
//
//   - The highest committed number. If a transaction takes the lock of intakeParts after this statement, the mark of
//     this transaction gets a higher number.
//   - The lowest second key of the locks that open transactions have taken with intakeParts. The marks of these
//     transactions get higher numbers.
//
// Locks of roles that cannot write marks do not count: any role may take any advisory lock.
//
// The statement must run before the statement that reads the marks. The latter then sees the marks of all ended
// transactions.
func (postgres) settledIntake(tables syntax.Tables) string {
	return tables.Fill(`
		SELECT LEAST((SELECT max(intake) FROM {erasures} WHERE erasures > 0), (
			SELECT min(CAST(l.objid AS bigint)) FROM pg_catalog.pg_locks AS l
			WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND CAST(l.classid AS bigint) = `+syntax.OidClass+`
				AND `+syntax.HolderWrites+`))`,
		"table", syntax.Literal(tables.Erasures), "marks", syntax.Literal(tables.Erasures))
}

func (postgres) transaction() string {
	return `
		SELECT current_setting('transaction_isolation'), EXISTS (SELECT 1 FROM pg_catalog.pg_trigger AS t
			WHERE t.tgdeferrable AND NOT t.tgisinternal AND t.tgenabled <> 'D')`
}

// exportedValue converts every value to text, so that the session's settings for the formats of times and bytes have no
// effect.
func (postgres) exportedValue(column datamap.Column) string {
	name := "t0." + syntax.Quote(column.Name)
	switch column.Type { //nolint:exhaustive // the other types have a single text form
	case datamap.TypeText: // as clients receive the text; CAST would pad or strip the texts of some types
		return "CASE WHEN " + name + " IS NOT NULL THEN concat(" + name + ") END"
	case datamap.TypeTime: // to_json also accepts a text column
		return "to_json(" + name + ") #>> '{}'"
	case datamap.TypeBytes:
		return "encode(" + name + ", 'hex')"
	case datamap.TypeArray:
		name = "to_json(" + name + ")"
	}
	return "CAST(" + name + " AS text)"
}

func (postgres) fromExported(t datamap.ColumnType, value any) any {
	if t == datamap.TypeBytes {
		if decoded, err := hex.DecodeString(syntax.Text(value)); err == nil {
			return decoded
		}
	}
	return value
}

func (postgres) storedJSON(document string) any { return document }

type sqlite struct{}

func (sqlite) erasureInstant(tables syntax.Tables, at, latest string) string {
	return tables.Fill(`max(CAST({at} AS text), COALESCE(({last} WHERE l.erased_at <= {latest}), ''))`,
		"at", at, "latest", latest, "last", tables.Fill(lastErasedAt))
}

// markInstant returns the parameters of the instant of an erasure. The clock of the database is that of the machine,
// because all processes that use the file run on it. The second parameter is the latest instant of the last mark that
// the erasure must not precede.
func (sqlite) markInstant(at time.Time) []any {
	clock := time.Now()
	instant := domain.ErasureInstant(at, clock, time.Time{})
	if !instant.Equal(domain.Instant(clock)) {
		return []any{syntax.SQLite.Instant(at), ""}
	}
	return []any{syntax.SQLite.Instant(instant), syntax.SQLite.Instant(clock.Add(domain.MaxClockError))}
}

func (sqlite) intakeParts(tables syntax.Tables) (column, number, lockCondition string) {
	return ", intake", tables.Fill(`, (SELECT max(intake_floor,
			COALESCE((SELECT max(intake) FROM {erasures} WHERE erasures > 0), 0)) + 1 FROM {installation})`), "TRUE"
}

func (sqlite) settledIntake(syntax.Tables) string { return "" }
func (sqlite) transaction() string                { return "" }

// exportedValue returns the column with a unary plus. The plus keeps the value and removes the declared type. Without
// the plus, drivers convert values of the result column by that type. JSONB, which is a blob, becomes a JSON text.
func (sqlite) exportedValue(column datamap.Column) string {
	value := "+t0." + syntax.Quote(column.Name)
	if column.Type == datamap.TypeJSON || column.Type == datamap.TypeArray {
		return syntax.Fill(`
			CASE WHEN typeof({value}) = 'blob' AND json_valid({value}, 8) THEN json({value}) ELSE {value} END`, "value", value)
	}
	return value
}

func (sqlite) fromExported(_ datamap.ColumnType, value any) any { return value }

// storedJSON returns a number if the document is a number, because a JSON column has the affinity NUMERIC in SQLite.
func (sqlite) storedJSON(document string) any {
	if n, err := strconv.ParseFloat(document, 64); err == nil {
		return n
	}
	return document
}

// lastErasedAt reads the instant of the last mark, see domain.ErasureInstant.
const lastErasedAt = `
	SELECT l.erased_at FROM (
		SELECT erased_at FROM {erasures} WHERE erasures > 0 ORDER BY intake DESC LIMIT 1) AS l`
