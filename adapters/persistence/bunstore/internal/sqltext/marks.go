package sqltext

import (
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// Marks holds the statements that read the marks (the rows that record the erasures of subjects). It also holds the
// statements that read and move the positions of readers in the list of marks.
type Marks struct {
	Settled  string // reads the settled intake number, see Dialect.settledIntake
	Find     string // reads the marks of the subjects in the JSON array $1
	Position string // reads the position of the reader $1
	Advance  string // moves the reader $1 from the position $2 to the position $3
	page     string // without a bound on the instants
	bounded  string // computes After before it filters by the instants
	dialect  syntax.Dialect
}

const (
	selectMarks = `
		SELECT subject_id, ` + MarkColumns + `, CAST(NULL AS bigint)
		FROM {erasures} WHERE erasures > 0 AND `

	listMarks = selectMarks + `intake > $1 AND intake <= $2`

	// The subquery reads all marks after $1, because a mark that the bounds exclude is the predecessor of the next one.
	listBoundedMarks = `
		SELECT * FROM (
			SELECT subject_id, ` + MarkColumns + `, lag(intake) OVER (ORDER BY intake)
			FROM {erasures} WHERE erasures > 0 AND intake > $1 AND intake <= $2
		) AS marks
		WHERE TRUE`
	findMarks = selectMarks + `{found}`

	readPosition = `SELECT position FROM {positions} WHERE reader = $1`

	advance = `
		INSERT INTO {positions} AS p (reader, position)
		SELECT CAST($1 AS text), CAST($3 AS bigint)
		WHERE CAST($2 AS bigint) = 0 OR EXISTS (SELECT 1 FROM {positions} WHERE reader = $1)
		ON CONFLICT (reader) DO UPDATE SET position = excluded.position WHERE p.position = $2`
)

// NewMarks returns the Marks for the dialect and the tables of w.
func NewMarks(w *rows.Writer) Marks {
	return Marks{
		Settled:  subjectDialectOf(w.Dialect).settledIntake(w.Tables),
		Find:     w.Tables.Fill(findMarks, "found", w.Dialect.IsInQuery("subject_id", w.Dialect.ArrayElements("$1"))),
		Position: w.Tables.Fill(readPosition), Advance: w.Tables.Fill(advance),
		page: w.Tables.Fill(listMarks), bounded: w.Tables.Fill(listBoundedMarks), dialect: w.Dialect,
	}
}

// Page returns the statement that reads a page of marks, and its parameters. The last column is the intake number of
// the mark before, or NULL if that is the mark before in the page. Intake numbers count the marks in order of arrival.
// The page contains only marks whose intake number is at most maxIntake.
func (m Marks) Page(query domain.MarkQuery, maxIntake int64) (text string, args []any) {
	text, args = m.page, []any{query.After, maxIntake}
	if !query.Since.IsZero() || !query.Until.IsZero() {
		text = m.bounded
	}
	if !query.Since.IsZero() {
		args = append(args, m.dialect.Instant(query.Since))
		text += " AND erased_at >= " + syntax.Placeholder(len(args))
	}
	if !query.Until.IsZero() {
		args = append(args, m.dialect.Instant(query.Until))
		text += " AND erased_at < " + syntax.Placeholder(len(args))
	}
	args = append(args, query.Limit)
	return text + " ORDER BY intake LIMIT " + syntax.Placeholder(len(args)), args
}

// intakeParts takes an advisory lock before the table generates the intake number of a mark. Intake numbers count the
// marks in order of arrival. The second key of the lock is the highest committed intake number. The intake number of
// the new mark is higher than this key. The marks of all open transactions therefore have higher numbers than the
// lowest second key, which settledIntake reads.
func (postgres) intakeParts(tables syntax.Tables) (column, number, lockCondition string) {
	return "", "", tables.Fill(`pg_advisory_xact_lock_shared(`+syntax.OidClass+`, CAST(LEAST(2147483647,
			COALESCE((SELECT max(intake) FROM {erasures} WHERE erasures > 0), 0)) AS integer)) IS NOT NULL`,
		"table", syntax.Literal(tables.Erasures))
}

// settledIntake returns the statement that reads the lower of two intake numbers (numbers of marks in order of
// arrival):
//
//   - The highest committed number. If a transaction takes the lock of intakeParts after this statement, the mark of
//     this transaction gets a higher number.
//   - The lowest second key of the locks that open transactions have taken with intakeParts. The marks of these
//     transactions get higher numbers.
//
// The statement must run before the statement that reads the marks. The latter then sees the marks of all ended
// transactions.
func (postgres) settledIntake(tables syntax.Tables) string {
	return tables.Fill(`
		SELECT LEAST((SELECT max(intake) FROM {erasures} WHERE erasures > 0), (
			SELECT min(CAST(l.objid AS bigint)) FROM pg_catalog.pg_locks AS l
			WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND CAST(l.classid AS bigint) = `+syntax.OidClass+`
				AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())))`,
		"table", syntax.Literal(tables.Erasures))
}

func (sqlite) intakeParts(tables syntax.Tables) (column, number, lockCondition string) {
	return ", intake", tables.Fill(`, (SELECT max(intake_floor,
			COALESCE((SELECT max(intake) FROM {erasures} WHERE erasures > 0), 0)) + 1 FROM {installation})`), "TRUE"
}

func (sqlite) settledIntake(syntax.Tables) string { return "" }
