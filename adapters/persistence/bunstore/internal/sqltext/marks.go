package sqltext

import "github.com/habeas-data/habeas/domain"

// Marks holds the statements that read the marks of erasures.
type Marks struct {
	Settled  string // see Dialect.settledIntake
	Find     string // the marks of the subjects in the list $1
	Position string // the position of the reader $1
	Advance  string // moves the reader $1 from $2 to $3
	page     string
	dialect  Dialect
}

const (
	selectMarks = `SELECT subject_id, erased_at, erasures, intake, swept_at FROM {erasures} WHERE erasures > 0 AND `

	listMarks = selectMarks + `intake > $1 AND intake <= $2`
	findMarks = selectMarks + `{found}`

	readPosition = `SELECT position FROM {positions} WHERE reader = $1`

	advance = `
		INSERT INTO {positions} AS p (reader, position)
		SELECT CAST($1 AS text), CAST($3 AS bigint)
		WHERE CAST($2 AS bigint) = 0 OR EXISTS (SELECT 1 FROM {positions} WHERE reader = $1)
		ON CONFLICT (reader) DO UPDATE SET position = excluded.position WHERE p.position = $2`
)

// NewMarks writes the statements.
func NewMarks(w *Writer) Marks {
	return Marks{
		Settled:  w.Dialect.settledIntake(w.Tables),
		Find:     w.Tables.in(findMarks, "found", w.Dialect.amongst("subject_id", w.Dialect.elements("$1"))),
		Position: w.Tables.in(readPosition), Advance: w.Tables.in(advance),
		page: w.Tables.in(listMarks), dialect: w.Dialect,
	}
}

// Page returns the statement of a page of marks, and its parameters. The page contains only marks with an intake number
// of at most settled.
func (m Marks) Page(query domain.MarkQuery, settled int64) (text string, args []any) {
	text, args = m.page, []any{query.After, settled}
	if !query.Since.IsZero() {
		args = append(args, m.dialect.Instant(query.Since))
		text += " AND erased_at >= " + parameter(len(args))
	}
	if !query.Until.IsZero() {
		args = append(args, m.dialect.Instant(query.Until))
		text += " AND erased_at < " + parameter(len(args))
	}
	args = append(args, query.Limit)
	return text + " ORDER BY intake LIMIT " + parameter(len(args)), args
}

// intakeClass is the class of the advisory lock that a transaction holds while it leaves a mark. It derives from the
// oid of the table of marks, so that different schemas of a database have different locks.
const intakeClass = `CAST(CAST(CAST(CAST({table} AS regclass) AS oid) AS bigint) & 2147483647 AS integer)`

// intake takes an advisory lock before the row gets its number. The id of the lock is the highest committed number, so
// the number of the transaction is higher.
func (postgres) intake(tables Tables) (column, number, taken string) {
	return "", "", tables.in(`pg_advisory_xact_lock_shared(`+intakeClass+`, CAST(LEAST(2147483647,
			COALESCE((SELECT max(intake) FROM {erasures} WHERE erasures > 0), 0)) AS integer)) IS NOT NULL`,
		"table", literal(tables.Erasures))
}

// settledIntake returns a statement that must run before the statement that reads the marks. A transaction that holds
// no lock at this instant has either ended, or will take a number above the highest committed number. If the
// transaction has ended, the next statement sees its mark.
func (postgres) settledIntake(tables Tables) string {
	return tables.in(`
		SELECT LEAST((SELECT max(intake) FROM {erasures} WHERE erasures > 0), (
			SELECT min(CAST(l.objid AS bigint)) FROM pg_catalog.pg_locks AS l
			WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND CAST(l.classid AS bigint) = `+intakeClass+`
				AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())))`,
		"table", literal(tables.Erasures))
}

func (sqlite) intake(tables Tables) (column, number, taken string) {
	return ", intake", tables.in(", (SELECT COALESCE(max(intake), 0) + 1 FROM {erasures} WHERE erasures > 0)"), "TRUE"
}

func (sqlite) settledIntake(Tables) string { return "" }
