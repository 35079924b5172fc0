package sqltext

import (
	"encoding/hex"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

type postgres struct{ syntax.BasePostgres }

func (postgres) transaction() string {
	return `
		SELECT current_setting('transaction_isolation'), EXISTS (SELECT 1 FROM pg_catalog.pg_trigger AS t
			WHERE t.tgdeferrable AND NOT t.tgisinternal AND t.tgenabled <> 'D')`
}

// ColumnsOf also returns the columns of a temporary table. It omits numbers and booleans.
func (postgres) ColumnsOf(table string) (text, parameter string) {
	return `
		SELECT CAST(a.attname AS text) FROM pg_catalog.pg_attribute AS a
		JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
		WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
			AND t.typcategory NOT IN ('N', 'B')
		ORDER BY a.attnum`, syntax.QuoteTable(table)
}

func (postgres) heldText(column string) string { return asText(column) }

func (postgres) byteLength(text string) string { return "octet_length(" + text + ")" }

func (p postgres) contains(text, parameter string) string {
	return "strpos(" + p.bytewise(text) + ", CAST(" + parameter + " AS text)) > 0"
}

func (postgres) bytewise(text string) string { return text + ` COLLATE "C"` }

func (p postgres) equalsExactly(text, parameter string) string {
	return p.bytewise(text) + " = CAST(" + parameter + " AS text)"
}

func (postgres) textFromHex(digits string) string {
	return "convert_from(decode('" + digits + "', 'hex'), 'UTF8')"
}

// isNotAfter returns a condition that compares directly if the column has a date or timestamp type. In a column of
// another type, the condition reads an instant from a text or a JSON string. An instant without an offset is in UTC.
// The condition is always true for negative infinity, for instants before Christ, and for texts of the year 1. It is
// never true for positive infinity, or for a text that is not an instant (see instantIn).
func (postgres) isNotAfter(column, parameter, sqlType string) string {
	start := "CAST(" + parameter + " AS timestamptz)"
	kind, precision, _ := strings.Cut(sqlType, "(")
	if _, zone, ok := strings.Cut(precision, ")"); ok {
		kind += zone
	}
	switch kind {
	case "timestamp with time zone":
		return column + " <= " + start
	case "timestamp without time zone", "date":
		return "CAST(" + column + " AS timestamp) AT TIME ZONE 'UTC' <= " + start
	}
	return syntax.Fill(`
		CASE WHEN {text} = '-infinity' OR {text} ~ '^([0-9]{4,}-[0-9]{2}-[0-9]{2}.* BC|0001-[0-9]{2}-[0-9]{2}[0-9T:. +Z-]*)$'
			THEN TRUE ELSE {instant} <= {start} END`, "text", textIn(column), "instant", instantIn(column, "Z"), "start", start)
}

func (postgres) equalsConstant(column, constant, sqlType string) string {
	if sqlType == "" {
		sqlType = "text"
	}
	return "CAST(" + column + ` AS text) COLLATE "C" = CAST(CAST(` + constant + " AS " + sqlType + ") AS text)"
}

func (postgres) changedTable(table string) (target, name string) {
	return syntax.QuoteTable(table) + " AS t0", "t0"
}

// writtenInTransaction compares xmin, the id of the transaction that wrote the row, with the id of this transaction.
// Because xmin has only 32 bits, the difference is modulo 2^32:
//
//   - 0: this transaction wrote the row.
//   - 2^31 or more: xmin is lower, so another transaction wrote the row.
//   - other values: xmin is higher. It belongs to a savepoint (subtransaction) of this transaction, or to a transaction
//     that started later and has committed.
//
// The condition distinguishes the two cases of a higher xmin:
//
//   - An id of at least xmax (the end of the snapshot) belongs to this transaction, because the row is visible.
//   - For a lower id, pg_xact_status returns 'in progress' only if the id belongs to this transaction, because rows of
//     other unfinished transactions are not visible.
func (postgres) writtenInTransaction() string {
	const own = `CAST(CAST(pg_current_xact_id() AS text) AS bigint)`
	const since = `((CAST(CAST(t0.xmin AS text) AS bigint) - ` + own + ` % 4294967296 + 4294967296) % 4294967296)`
	const number = `CAST(CAST(` + own + ` + ` + since + ` AS text) AS xid8)`
	return `CASE WHEN ` + since + ` = 0 THEN TRUE
		WHEN ` + since + ` >= 2147483648 THEN FALSE
		WHEN ` + number + ` >= pg_snapshot_xmax(pg_current_snapshot()) THEN TRUE
		ELSE pg_xact_status(` + number + `) = 'in progress' END`
}

func (postgres) randomDigits() string { return "replace(CAST(gen_random_uuid() AS text), '-', '')" }

func (p postgres) surrogate(column domain.Column) string {
	switch column.Type { //nolint:exhaustive // commonSurrogate handles the other types
	case domain.TypeText:
		return anonymousText(p.randomDigits(), column)
	case domain.TypeUUID:
		return "gen_random_uuid()"
	default:
		return commonSurrogate(column.Type)
	}
}

// exportedValue converts every value to text, so that the session's settings for the formats of times and bytes have no
// effect.
func (postgres) exportedValue(column domain.Column) string {
	name := "t0." + syntax.Quote(column.Name)
	switch column.Type { //nolint:exhaustive // the other types have a single text form
	case domain.TypeText: // as clients receive the text; CAST would pad or strip the texts of some types
		return "CASE WHEN " + name + " IS NOT NULL THEN concat(" + name + ") END"
	case domain.TypeTime: // to_json also accepts a text column
		return "to_json(" + name + ") #>> '{}'"
	case domain.TypeBytes:
		return "encode(" + name + ", 'hex')"
	case domain.TypeArray:
		name = "to_json(" + name + ")"
	}
	return "CAST(" + name + " AS text)"
}

func (postgres) fromExported(t domain.ColumnType, value any) any {
	if t == domain.TypeBytes {
		if decoded, err := hex.DecodeString(syntax.Text(value)); err == nil {
			return decoded
		}
	}
	return value
}
