package rows

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
)

type sqlite struct{}

// bytewise is also necessary for a CAST, because a CAST keeps the collation of the column.
func (sqlite) bytewise(text string) string { return text + " COLLATE BINARY" }

func (s sqlite) equalsExactly(text, parameter string) string {
	return s.bytewise(text) + " = " + parameter
}

func (sqlite) textFromHex(digits string) string { return "CAST(x'" + digits + "' AS text)" }

// isNotAfter adds one day to an instant whose offset SQLite cannot parse, so that a retention duty never ends too
// early.
func (sqlite) isNotAfter(column, parameter, _ string) string {
	return syntax.Fill(`
		{column} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
		AND COALESCE(julianday({column}), julianday(substr({column}, 1, 19)) + 1) <= julianday({parameter})`,
		"column", column, "parameter", parameter)
}

func (sqlite) equalsConstant(column, constant, _ string) string { return column + " = " + constant }

// changedTable uses no alias, because SQLite cannot execute UPDATE v AS t0 SET ... WHERE t0.id = $1 if v is a view.
func (sqlite) changedTable(table string) (target, name string) {
	return syntax.QuoteTable(table), syntax.Quote(table[strings.LastIndex(table, ".")+1:])
}

// globEscaper escapes the special characters of a GLOB pattern.
var globEscaper = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

func (sqlite) matchesForm(column string, fixedParts []string, digits int, addParameter func(value any) string) string {
	parts := make([]string, len(fixedParts))
	for i, part := range fixedParts {
		parts[i] = globEscaper.Replace(part)
	}
	return column + " GLOB " + addParameter(strings.Join(parts, strings.Repeat("[0-9a-f]", digits)))
}

// parameterValue returns the value unchanged, because SQLite would store the text 'true' as a text, even in a column of
// the type BOOLEAN.
func (sqlite) parameterValue(value any) any { return value }

// addedValue is an expression, so that the drivers do not convert the value by the type of the column.
func (sqlite) addedValue(column string) string {
	return syntax.Fill(`CASE typeof({column}) WHEN 'blob' THEN NULL ELSE {column} END`, "column", column)
}

// earliestAdded splits texts itself, because the functions of SQLite read only milliseconds, and not all forms of a
// zone.
func (sqlite) earliestAdded(column string) string {
	return syntax.Fill(`(
		SELECT CASE
			WHEN kind = 'text' AND value GLOB '*[^0-9.]*' THEN ({instant})
			WHEN kind IN ('integer', 'real') OR kind = 'text' AND value GLOB '[1-9]*'
				AND value NOT GLOB '*.*.*' AND value NOT GLOB '*.' THEN ({number})
			END
		FROM (SELECT typeof({column}) AS kind,
			CASE typeof({column}) WHEN 'text' THEN rtrim({column}) ELSE {column} END AS value))`,
		"column", column, "instant", textAddedSQLite, "number", syntax.Fill(numberAddedSQLite,
			"units", syntax.Fill(unitsAdded, "nanoseconds", "CAST(value AS integer) / 1000"), "is micros", isMicrosAdded))
}

const (
	numberAddedSQLite = `
		SELECT strftime('%Y-%m-%dT%H:%M:%S.', micros / 1000000, 'unixepoch') || printf('%06dZ', micros % 1000000)
		FROM (SELECT CAST(CASE {units} END AS integer) AS micros FROM (SELECT CAST(value AS real) AS n))
		WHERE {is micros}`

	// Each SELECT reads a part of the text, and leaves the rest to the SELECT around it. A part that is not readable is
	// NULL, and so is then the result. The function date changes only
	// days that do not exist.
	textAddedSQLite = `
		SELECT strftime('%Y-%m-%dT%H:%M:', day || ' ' || clock, CASE
				WHEN zone = '' THEN -14 * 60
				WHEN zone = 'Z' THEN 0
				WHEN substr(zone, 2, 2) <= '14' AND (zone GLOB '[+-][0-9][0-9]' OR zone GLOB '[+-][0-9][0-9]:[0-5][0-9]'
					OR zone GLOB '[+-][0-9][0-9][0-5][0-9]' OR zone GLOB '[+-][0-9][0-9][0-5][0-9] *')
				THEN CASE WHEN zone GLOB '-*' THEN 1 ELSE -1 END
					* (60 * substr(zone, 2, 2) + substr(replace(zone, ':', ''), 4, 2))
				END || ' minutes') || COALESCE(second, '00') || '.' || substr(fraction || '000000', 1, 6) || 'Z'
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
						FROM (SELECT date(substr(value, 1, 10), '0 days') AS day, substr(value, 11) AS time)
						WHERE day = substr(value, 1, 10) AND day NOT GLOB '000[01]*' AND day NOT GLOB '9999*'))))`
)
