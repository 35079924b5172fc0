package rows

import (
	"cmp"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// dialect has the differences between PostgreSQL and SQLite in the statements on the tables of a data map.
type dialect interface {
	// bytewise adds a collation that compares bytes to a text expression, so that the collation of the column has no
	// effect.
	bytewise(text string) string

	// equalsExactly returns the condition that a text equals a parameter byte by byte.
	equalsExactly(text, parameter string) string

	// constantText returns the expression for a text with any characters, without these characters in the statement.
	constantText(text string) string

	// dutyStart returns the expression for the start of a retention duty in a column of any type, as a text that
	// plan.ReadStart reads: 2006-01-02T15:04:05.000000 in UTC with Z, or as the column has it, without a zone. The
	// texts sort in the order of the instants. The expression is NULL if the column has no readable start. It never fails.
	// The parameter sqlType is the type of the column in the database, or "" if it is not known.
	dutyStart(column, sqlType string) string

	// shownStart is like dutyStart, but its value may have any other form that plan.ReadStart reads in the same way.
	shownStart(column, sqlType string) string

	// startText is like shownStart, but its value is a text.
	startText(column, sqlType string) string

	// jsonOf returns the expression for a JSON array with an array of the texts for each row of a SELECT.
	jsonOf(texts []string) string

	// isInteger reports whether all values in a column of the type are integers.
	isInteger(sqlType string) bool

	// exactText returns the expression for a text parameter, with a collation that compares bytes.
	exactText(parameter string) string

	// equalsConstant returns the condition that a column holds a constant. The condition uses the form in which a column
	// of the database type sqlType stores the constant.
	equalsConstant(column, constant, sqlType string) string

	// matchesForm returns the condition that a text column consists of fixedParts, with the given number of hexadecimal
	// digits between each two parts. addParameter returns the placeholder of the new parameter.
	matchesForm(column string, fixedParts []string, digits int, addParameter func(value any) string) string

	// changedTable returns the target table of an UPDATE or a DELETE, and the name of that table in the rest of the
	// statement.
	changedTable(table string) (target, name string)

	// orAbort returns the conflict clause of an UPDATE that refuses every conflict, or "" if the database always does.
	orAbort() string

	// surrogate returns the expression for the value that overwrites a column in an anonymization. The value fits the
	// type of the column. A text or a UUID differs in each row.
	surrogate(column datamap.Column) string

	// randomDigits returns the expression for 32 hexadecimal digits that differ in each row.
	randomDigits() string

	// earliestAdded returns the expression for the earliest instant that a value in a column of creation times can mean,
	// in the form of the parameters that Instant returns. It does the same as plan.EarliestAddedAt, whatever the time
	// zone of the session. The expression is NULL if the column has no readable instant. It never fails.
	earliestAdded(column string) string

	// addedValue returns the expression for the value in a column of creation times, in a form that plan.ReadAddedAt
	// reads. The column can have any type.
	addedValue(column string) string

	// keyName, keyExpression, keyValue and equalsKey are the parts of Writer.KeyNames, KeyValues, KeyValue and HasKey for
	// one column. The value is not NULL. The parameter keyText is syntax.Tables.KeyText. The parameter sqlType is the type
	// of the column in the database, or "" if it is not known.
	keyName(column, sqlType, keyText string) string
	keyExpression(column, keyText string) string
	keyValue(value any) any
	equalsKey(column, parameter, sqlType, keyText string) string

	// parameterValue converts a number, a text or a boolean to a query parameter that the database accepts for a column,
	// whatever the type of the column.
	parameterValue(value any) any
}

func dialectOf(d syntax.Dialect) dialect { return syntax.Choose[dialect](d, postgres{}, sqlite{}) }

type postgres struct{}

func (postgres) bytewise(text string) string { return text + ` COLLATE "C"` }

func (p postgres) equalsExactly(text, parameter string) string {
	return p.bytewise(text) + " = CAST(" + parameter + " AS text)"
}

func (postgres) constantText(text string) string {
	return "convert_from(decode('" + hex.EncodeToString([]byte(text)) + "', 'hex'), 'UTF8')"
}

// dutyStart reads the text of a value in JSON, which has the instant of a time. It is not the text that
// regexp_matches can read if the zone of the session has an offset with seconds, as all zones had before time zones.
func (postgres) dutyStart(column, sqlType string) string {
	return startOnPostgres(column, sqlType, `
		WHEN pg_typeof({column}) IN (CAST('timestamp' AS regtype), CAST('date' AS regtype))
			THEN to_char(CAST({text} AS timestamp), {form})
		ELSE to_char({instant} AT TIME ZONE 'UTC', {form}) || CASE WHEN {text} ~ {zone} THEN 'Z' ELSE '' END`)
}

// shownStart leaves the forms of texts to plan.ReadStart. In an export of 36 rows with 5 such texts, the forms cost 40
// of 285 microseconds of the database.
func (postgres) shownStart(column, sqlType string) string {
	return startOnPostgres(column, sqlType, "ELSE {text}")
}

func (p postgres) startText(column, sqlType string) string { return p.shownStart(column, sqlType) }

func (postgres) jsonOf(texts []string) string {
	return "json_agg(json_build_array(" + strings.Join(texts, ", ") + "))"
}

// startOnPostgres does not read the text of a time. PostgreSQL prepares the expressions of a statement at each
// execution: without those for texts, the steps of an erasure with two duties take 100 instead of 170 microseconds.
func startOnPostgres(column, sqlType, ofOthers string) string {
	if of, isTime := timesOnPostgres[sqlType]; isTime {
		return syntax.Fill(`
			CASE WHEN {column} < {type} '0002-01-01{zone}' THEN '0001-01-01T00:00:00.000000Z'
				WHEN {column} < {type} '9999-01-01{zone}' THEN to_char({local}, {form}) END COLLATE "C"`,
			"type", of.name, "zone", of.zone, "form", of.form, "local", syntax.Fill(of.local, "column", column), "column",
			column)
	}
	return syntax.Fill(syntax.Fill(`
		CASE WHEN {text} ~ '^(-infinity|[0-9]{4,}-[0-9]{2}-[0-9]{2}.* BC|0001-[0-9]{2}-[0-9]{2}[0-9T:. +Z-]*)$'
			THEN '0001-01-01T00:00:00.000000Z'
		WHEN {text} !~ '^(?!9999)[0-9]{4}-|^[0-9.]+$' THEN NULL
		WHEN pg_typeof({column}) = CAST('timestamptz' AS regtype)
			THEN to_char(CAST({text} AS timestamptz) AT TIME ZONE 'UTC', {form}) || 'Z'
		{of others} END COLLATE "C"`, "of others", ofOthers),
		"text", textIn(column), "column", column, "form", startForm,
		"instant", addedIn(column, "Z"), "zone", `'^[0-9.]+$|:.*[Z+-]'`)
}

// timesOnPostgres has the types of times, with the local time of a value and its form.
var timesOnPostgres = map[string]struct{ name, zone, local, form string }{
	"timestamp with time zone": {
		"timestamptz", " 00:00Z", "{column} AT TIME ZONE 'UTC'", `'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'`,
	},
	"timestamp without time zone": {"timestamp", "", "{column}", startForm},
	"date":                        {"date", "", "CAST({column} AS timestamp)", startForm},
}

const startForm = `'YYYY-MM-DD"T"HH24:MI:SS.US'`

func (postgres) isInteger(sqlType string) bool {
	return sqlType == "smallint" || sqlType == "integer" || sqlType == "bigint"
}

func (postgres) exactText(parameter string) string {
	return "CAST(" + parameter + ` AS text) COLLATE "C"`
}

func (postgres) equalsConstant(column, constant, sqlType string) string {
	return "CAST(" + column + ` AS text) COLLATE "C" = CAST(CAST(` + constant + " AS " +
		cmp.Or(sqlType, "text") + ") AS text)"
}

func (postgres) changedTable(table string) (target, name string) {
	return syntax.QuoteTable(table) + " AS t0", "t0"
}

func (postgres) orAbort() string { return "" }

func (postgres) matchesForm(
	column string, fixedParts []string, digits int, addParameter func(value any) string,
) string {
	pattern := "^" + syntax.Join(fixedParts, "[0-9a-f]{"+strconv.Itoa(digits)+"}", regexp.QuoteMeta) + "$"
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
// and in plan.ReadAddedAt. A floating-point number holds the half microseconds before 45e14 exactly.
const (
	unitsAdded = `
			WHEN n >= 1e17 THEN {nanoseconds}
			WHEN n >= 1e14 THEN n + 0.5
			WHEN n >= 1e11 THEN n * 1e3 + 0.5
			WHEN n >= 1e8 THEN n * 1e6 + 0.5
			WHEN n >= 2e6 AND n < 3e6 THEN (n - 2440587.5) * 86400e6 + 0.5`

	isMicrosAdded = `micros >= 1e14 AND micros < 45e14`
)

func (postgres) earliestAdded(column string) string { return addedIn(column, "+14") }

// addedIn returns the expression for the instant that a column of any type holds, see plan.ReadAddedAt. The
// parameter zone is the zone of a text without a zone. The expression reads the text of the value, because the types of
// the columns are not known when the statements are built.
func addedIn(column, zone string) string {
	return syntax.Fill(`COALESCE({instant}, {number})`, "instant", instantIn(column, zone), "number", syntax.Fill(`(
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
// plan.ReadAddedAt. The parameter zone is the zone of a text without a zone. The groups of the pattern are the date,
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

type sqlite struct{}

// bytewise is also necessary for a CAST, because a CAST keeps the collation of the column.
func (sqlite) bytewise(text string) string { return text + " COLLATE BINARY" }

func (s sqlite) equalsExactly(text, parameter string) string {
	return s.bytewise(text) + " = " + parameter
}

// constantText uses code points, because the bytes of a text depend on the encoding of the file, which may be UTF-16.
// SQLite accepts at most 127 arguments of a function.
func (sqlite) constantText(text string) string {
	const most = 100
	chunks := slices.Collect(slices.Chunk([]rune(text), most))
	return "(" + syntax.Join(chunks, " || ", func(chunk []rune) string {
		return "char(" + syntax.Join(chunk, ", ", func(r rune) string { return strconv.Itoa(int(r)) }) + ")"
	}) + ")"
}

func (sqlite) dutyStart(column, _ string) string {
	return syntax.Fill(`
		CASE WHEN {column} GLOB '0001-[0-9][0-9]-[0-9][0-9]*' THEN '0001-01-01T00:00:00.000000Z' ELSE {added} END`,
		"column", column, "added", addedInSQLite(column, "0", "CASE zone WHEN '' THEN '' ELSE 'Z' END"))
}

// shownStart leaves all forms to plan.ReadStart. To compile dutyStart costs as much as to read twenty rows.
func (sqlite) shownStart(column, _ string) string { return withoutBlobs(column) }

// startText writes all digits of a floating-point number. CAST would leave out microseconds.
func (sqlite) startText(column, _ string) string {
	return syntax.Fill(`
		CASE typeof({column}) WHEN 'real' THEN printf('%!.12f', {column}) WHEN 'blob' THEN NULL
			ELSE CAST({column} AS text) END`, "column", column)
}

func (sqlite) jsonOf(texts []string) string {
	return "json_group_array(json_array(" + strings.Join(texts, ", ") + "))"
}

// isInteger returns false, because a column of any type can hold a text.
func (sqlite) isInteger(string) bool { return false }

func (sqlite) exactText(parameter string) string { return parameter }

func (sqlite) equalsConstant(column, constant, _ string) string { return column + " = " + constant }

// changedTable uses no alias, because SQLite cannot execute UPDATE v AS t0 SET ... WHERE t0.id = $1 if v is a view.
func (sqlite) changedTable(table string) (target, name string) {
	return syntax.QuoteTable(table), syntax.Quote(table[strings.LastIndex(table, ".")+1:])
}

func (sqlite) orAbort() string { return " OR ABORT" }

// globEscaper escapes the special characters of a GLOB pattern.
var globEscaper = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

func (sqlite) matchesForm(column string, fixedParts []string, digits int, addParameter func(value any) string) string {
	pattern := syntax.Join(fixedParts, strings.Repeat("[0-9a-f]", digits), globEscaper.Replace)
	return column + " GLOB " + addParameter(pattern)
}

// parameterValue returns the value unchanged, because SQLite would store the text 'true' as a text, even in a column of
// the type BOOLEAN.
func (sqlite) parameterValue(value any) any { return value }

func (sqlite) addedValue(column string) string { return withoutBlobs(column) }

// withoutBlobs returns an expression, so that the drivers do not convert the value by the type of the column.
func withoutBlobs(column string) string {
	return syntax.Fill(`CASE typeof({column}) WHEN 'blob' THEN NULL ELSE {column} END`, "column", column)
}

func (sqlite) earliestAdded(column string) string { return addedInSQLite(column, "-14 * 60", "'Z'") }

// addedInSQLite returns the expression for the instant that a column of any type holds, see plan.ReadAddedAt. The
// parameter bare has the minutes that are added to a text without a zone, and ending the end of the result for a text.
// The expression splits texts itself, because the functions of SQLite read only milliseconds, and not all forms of a
// zone.
func addedInSQLite(column, bare, ending string) string {
	return syntax.Fill(`(
		SELECT CASE
			WHEN kind = 'text' AND value GLOB '*[^0-9.]*' THEN ({instant})
			WHEN kind IN ('integer', 'real') OR kind = 'text' AND value GLOB '[1-9]*'
				AND value NOT GLOB '*.*.*' AND value NOT GLOB '*.' THEN ({number})
			END
		FROM (SELECT typeof({column}) AS kind,
			CASE typeof({column}) WHEN 'text' THEN rtrim({column}) ELSE {column} END AS value LIMIT 1))`,
		"column", column, "instant", syntax.Fill(textAddedSQLite, "bare", bare, "ending", ending),
		"number", syntax.Fill(numberAddedSQLite,
			"units", syntax.Fill(unitsAdded, "nanoseconds", "CAST(value AS integer) / 1000"), "is micros", isMicrosAdded))
}

const (
	numberAddedSQLite = `
		SELECT strftime('%Y-%m-%dT%H:%M:%S.', micros / 1000000, 'unixepoch') || printf('%06dZ', micros % 1000000)
		FROM (SELECT CAST(CASE {units} END AS integer) AS micros FROM (SELECT CAST(value AS real) AS n LIMIT 1) LIMIT 1)
		WHERE {is micros}`

	// Each SELECT reads a part of the text, and leaves the rest to the SELECT around it. A part that is not readable is
	// NULL, and so is then the result. The function date changes only days that do not exist. Each SELECT has a LIMIT,
	// because SQLite would otherwise copy it to every place that reads it, and so make the statement eight times as long.
	textAddedSQLite = `
		SELECT strftime('%Y-%m-%dT%H:%M:', day || ' ' || clock, CASE
				WHEN zone = '' THEN {bare}
				WHEN zone = 'Z' THEN 0
				WHEN substr(zone, 2, 2) <= '14' AND (zone GLOB '[+-][0-9][0-9]' OR zone GLOB '[+-][0-9][0-9]:[0-5][0-9]'
					OR zone GLOB '[+-][0-9][0-9][0-5][0-9]' OR zone GLOB '[+-][0-9][0-9][0-5][0-9] *')
				THEN CASE WHEN zone GLOB '-*' THEN 1 ELSE -1 END
					* (60 * substr(zone, 2, 2) + substr(replace(zone, ':', ''), 4, 2))
				END || ' minutes') || COALESCE(second, '00') || '.' || substr(fraction || '000000', 1, 6) || {ending}
		FROM (SELECT day, clock, second,
				CASE WHEN length(rest) < length(time) THEN substr(time, 2, length(time) - length(rest) - 1)
					ELSE '' END AS fraction,
				CASE WHEN rest GLOB ' ?*' THEN substr(rest, 2) ELSE rest END AS zone
			FROM (SELECT day, clock, second, time,
					CASE WHEN second <> '' AND time GLOB '.[0-9]*' THEN ltrim(substr(time, 2), '0123456789') ELSE time END AS rest
				FROM (SELECT day, clock, CASE WHEN time GLOB ':[0-5][0-9]*' THEN substr(time, 2, 2) END AS second,
						CASE WHEN time GLOB ':[0-5][0-9]*' THEN substr(time, 4) ELSE time END AS time
					FROM (SELECT day, substr(time, 7) AS time, CASE
							WHEN time = '' THEN '00:00'
							WHEN time GLOB '[ T][0-2][0-9]:[0-5][0-9]*' AND substr(time, 2, 2) < '24' THEN substr(time, 2, 5)
							END AS clock
						FROM (SELECT date(substr(value, 1, 10), '0 days') AS day, substr(value, 11) AS time LIMIT 1)
						WHERE day = substr(value, 1, 10) AND day NOT GLOB '000[01]*' AND day NOT GLOB '9999*'
						LIMIT 1) LIMIT 1) LIMIT 1) LIMIT 1)`
)
