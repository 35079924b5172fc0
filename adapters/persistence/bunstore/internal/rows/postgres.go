package rows

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
)

type postgres struct{}

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

func (postgres) matchesForm(
	column string, fixedParts []string, digits int, addParameter func(value any) string,
) string {
	parts := make([]string, len(fixedParts))
	for i, part := range fixedParts {
		parts[i] = regexp.QuoteMeta(part)
	}
	pattern := "^" + strings.Join(parts, "[0-9a-f]{"+strconv.Itoa(digits)+"}") + "$"
	return column + " ~ CAST(" + addParameter(pattern) + " AS text)"
}

// parameterValue converts a value to a text. A driver sends a text unchanged, and the server parses the text by the
// type of the column. The type of the column may differ from the Go type. For example, a varchar column may hold
// integers.
func (postgres) parameterValue(value any) any {
	switch value := value.(type) {
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(value)
	default:
		return value
	}
}

// unitsAdded are the cases for the microseconds since 1970 that the number n means. They are the same in both databases
// and in domain.ReadAddedAt. A floating-point number holds the half microseconds before 45e14 exactly.
const (
	unitsAdded = `
			WHEN n >= 1e17 THEN {nanoseconds}
			WHEN n >= 1e14 THEN n + 0.5
			WHEN n >= 1e11 THEN n * 1e3 + 0.5
			WHEN n >= 1e8 THEN n * 1e6 + 0.5
			WHEN n >= 2e6 AND n < 3e6 THEN (n - 2440587.5) * 86400e6 + 0.5`

	isMicrosAdded = `micros >= 1e14 AND micros < 45e14`
)

// earliestAdded reads the text of the value, and so accepts columns of all types. The types of the columns are not
// known when the statements are built.
func (postgres) earliestAdded(column string) string {
	return syntax.Fill(`COALESCE({instant}, {number})`, "instant", instantIn(column, "+14"), "number", syntax.Fill(`(
		SELECT TIMESTAMPTZ 'epoch' + micros * INTERVAL '1 microsecond'
		FROM regexp_matches({text}, '^[1-9][0-9]{6,18}(?:[.][0-9]+)?$') AS digits,
			LATERAL (SELECT CAST(digits[1] AS float8) AS n) AS number,
			LATERAL (SELECT floor(CASE {units} END) AS micros) AS unit
		WHERE {is micros})`,
		"text", textIn(column), "units", syntax.Fill(unitsAdded, "nanoseconds", "div(CAST(digits[1] AS numeric), 1000)"),
		"is micros", isMicrosAdded))
}

// addedValue returns the text of the value.
func (postgres) addedValue(column string) string { return textIn(column) }

// textIn returns the expression for the text of a value in JSON. The text does not depend on the session's format of
// dates. In the text of an instant, the offset depends on the session's time zone, but not the instant itself.
func textIn(column string) string { return "rtrim(to_jsonb(" + column + ") #>> '{}')" }

// instantIn returns the expression for the instant that a column of any type holds as a time or as a text, see
// domain.ReadAddedAt. The parameter zone is the zone of a text without a zone. The groups of the pattern are the date,
// the hour and the minute, the second, the fraction, and two forms of the zone. The pattern only matches texts that
// PostgreSQL can cast. Otherwise the statement would fail.
func instantIn(column, zone string) string {
	return syntax.Fill(`(
		SELECT CAST(concat(part[1], ' ', COALESCE(part[2], '00:00'), ':', COALESCE(part[3], '00'), '.',
			COALESCE(part[4], '0'), COALESCE(part[5], part[6], '{zone}')) AS timestamptz)
		FROM regexp_matches({text}, '^({date})(?:[ T]({hour}:{sixty})(?::({sixty})(?:[.]([0-9]{1,6})[0-9]*)?)?'
			'(?: ?(Z|[+-]{offset}(?::?{sixty})?)| ?([+-]{offset}{sixty}) .*)?)?$') AS part)`,
		"text", textIn(column), "date", existingDate, "hour", "(?:[01][0-9]|2[0-3])", "sixty", "[0-5][0-9]",
		"offset", "(?:0[0-9]|1[0-4])", "zone", zone)
}

// existingDate is the pattern of the dates in the years 2 to 9998. It matches 29 February in leap years only.
const existingDate = `(?!000[01]|9999)(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|` +
	`(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|` +
	`(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)`
