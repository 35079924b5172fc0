package sqltext

// unitsAdded are the cases for the microseconds since 1970 that the number n means. They are the same in both databases
// and in datamap.ReadAddedAt. A floating-point number holds the half microseconds before 45e14 exactly.
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
	return fill(`COALESCE({instant}, {number})`, "instant", instantIn(column, "+14"), "number", fill(`(
		SELECT TIMESTAMPTZ 'epoch' + micros * INTERVAL '1 microsecond'
		FROM regexp_matches({text}, '^[1-9][0-9]{6,18}(?:[.][0-9]+)?$') AS digits,
			LATERAL (SELECT CAST(digits[1] AS float8) AS n) AS number,
			LATERAL (SELECT floor(CASE {units} END) AS micros) AS unit
		WHERE {is micros})`,
		"text", textIn(column), "units", fill(unitsAdded, "nanoseconds", "div(CAST(digits[1] AS numeric), 1000)"),
		"is micros", isMicrosAdded))
}

// addedValue returns the text of the value.
func (postgres) addedValue(column string) string { return textIn(column) }

// textIn returns the expression for the text of a value in JSON. The text does not depend on the session's format of
// dates. In the text of an instant, the offset depends on the session's time zone, but not the instant itself.
func textIn(column string) string { return "rtrim(to_jsonb(" + column + ") #>> '{}')" }

// instantIn returns the expression for the instant that a column of any type holds as a time or as a text, see
// datamap.ReadAddedAt. The parameter zone is the zone of a text without a zone. The groups of the pattern are the date,
// the hour and the minute, the second, the fraction, and two forms of the zone. The pattern only matches texts that
// PostgreSQL can cast. Otherwise the statement would fail.
func instantIn(column, zone string) string {
	return fill(`(
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

// addedValue is an expression, so that the drivers do not convert the value by the type of the column.
func (sqlite) addedValue(column string) string {
	return fill(`CASE typeof({column}) WHEN 'blob' THEN NULL ELSE {column} END`, "column", column)
}

// earliestAdded splits texts itself, because the functions of SQLite read only milliseconds, and not all forms of a
// zone.
func (sqlite) earliestAdded(column string) string {
	return fill(`(
		SELECT CASE
			WHEN kind = 'text' AND value GLOB '*[^0-9.]*' THEN ({instant})
			WHEN kind IN ('integer', 'real') OR kind = 'text' AND value GLOB '[1-9]*'
				AND value NOT GLOB '*.*.*' AND value NOT GLOB '*.' THEN ({number})
			END
		FROM (SELECT typeof({column}) AS kind,
			CASE typeof({column}) WHEN 'text' THEN rtrim({column}) ELSE {column} END AS value))`,
		"column", column, "instant", textAddedSQLite, "number", fill(numberAddedSQLite,
			"units", fill(unitsAdded, "nanoseconds", "CAST(value AS integer) / 1000"), "is micros", isMicrosAdded))
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
