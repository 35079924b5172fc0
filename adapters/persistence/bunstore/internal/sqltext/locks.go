package sqltext

import (
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/ledger"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// Locks holds the statements that lock a subject. The mark of a subject is the row that records its erasures.
//
// A statement that reads the subject's row returns whether the row exists, and then the preconditions, which the caller
// must check before it continues. The preconditions are the fingerprint (a hash of the table definitions) and the
// stored text of each text column of the subject's key.
type Locks struct {
	// AddMark adds or updates the mark of a subject for an erasure. Its parameters are the id and the MarkInstant.
	AddMark string

	// AddMarkAndLock adds or updates the mark like AddMark, reads the subject's row like SubjectRowAdded, and locks this
	// row and the subject's ledgers (consents and restrictions). Its parameters are the subject's key and the parameters
	// of AddMark. The last column is erased_at of the mark. It is "" for SQLite, because AddMark then locks the database.
	AddMarkAndLock string

	// LockMark locks the mark of the subject $1 and returns its number of erasures. If there is no mark, LockMark adds a
	// mark with the instant $2 and 0 erasures.
	LockMark         string
	DeleteUnusedMark string // deletes the mark of the subject $1 if it records no erasure and no registration

	SubjectRow string // reads the preconditions, and whether the subject has a row
	// SubjectRowAdded is SubjectRow with two further columns: the value from which domain.ReadAddedAt reads the creation
	// time, and erased_at of the mark. Its parameters are the subject's key and the id.
	SubjectRowAdded string
	Transaction     string // see Dialect.transaction
	Levels          []rows.LockLevel
	Tables          []string // the tables whose rows are locked
	TextElements    []int    // the indexes of the subject's key columns that hold texts
	exists          string   // the expression that reports whether the subject has a row
	preconditions   []string // the expressions of the preconditions
	Erasures        string   // returns the number of committed erasures of the subject $1
}

const (
	addMark = `
		INSERT INTO {erasures} AS e (subject_id, erased_at, erasures{column})
		SELECT CAST({subject} AS text), {instant}, 1{number} WHERE {lock condition}
		ON CONFLICT (subject_id) DO UPDATE SET erased_at = excluded.erased_at, erasures = e.erasures + 1,
			intake = excluded.intake, registered_at = NULL, registered_added_at = NULL`

	lockMark = `
		INSERT INTO {erasures} AS e (subject_id, erased_at, erasures, intake) VALUES ($1, $2, 0, 0)
		ON CONFLICT (subject_id) DO UPDATE SET erasures = e.erasures
		RETURNING erasures`

	deleteUnusedMark = `DELETE FROM {erasures} WHERE subject_id = $1 AND erasures = 0 AND registered_at IS NULL`
	countErasures    = `SELECT erasures FROM {erasures} WHERE subject_id = $1`

	readSubjectRow = `SELECT {exists}, {preconditions} {from}`
	readErasedAt   = `(SELECT e.erased_at FROM {erasures} AS e WHERE e.subject_id = {subject})`

	// lastErasedAt reads the instant of the last mark, see domain.ErasureInstant.
	lastErasedAt = `
		SELECT l.erased_at FROM (
			SELECT erased_at FROM {erasures} WHERE erasures > 0 ORDER BY intake DESC LIMIT 1) AS l`

	// The statement adds the mark before it locks the subject's row, because FOR UPDATE locks this row only after the join
	// with the mark.
	addMarkAndLock = `
		WITH mark AS ({mark}
			RETURNING e.erased_at, {lock consents}, {lock restrictions})
		SELECT {exists}, {preconditions}, mark.erased_at
		FROM {table} AS t0 CROSS JOIN mark
		WHERE {rows}
		FOR UPDATE OF t0`
)

// NewLocks returns the statements that lock the subjects of the data map of w.
func NewLocks(w *rows.Writer) *Locks {
	subject := w.DataMap.SubjectTable()
	l := &Locks{
		LockMark:         w.Tables.Fill(lockMark),
		DeleteUnusedMark: w.Tables.Fill(deleteUnusedMark),
		Erasures:         w.Tables.Fill(countErasures),
		Transaction:      subjectDialectOf(w.Dialect).transaction(),
		preconditions:    []string{live.Fingerprint(w.Dialect, w.Touched, w.Tables)},
	}
	for i, name := range subject.SubjectKey {
		if column, _ := subject.Column(name); column.Type == domain.TypeText {
			l.TextElements = append(l.TextElements, i)
			l.preconditions = append(l.preconditions, "CAST(t0."+syntax.Quote(name)+" AS text)")
		}
	}
	exists, preconditions := "t0."+syntax.Quote(subject.SubjectKey[0])+" IS NOT NULL", strings.Join(l.preconditions, ", ")
	l.exists = exists
	l.SubjectRow = syntax.Fill(readSubjectRow, "exists", exists, "preconditions", preconditions, "from", w.FromSubject(0))
	keys := len(subject.SubjectKey)
	preconditions += ", " + addedValueOf(w)
	erasedAt := w.Tables.Fill(readErasedAt, "subject", syntax.Placeholder(keys+1))
	l.SubjectRowAdded = syntax.Fill(readSubjectRow, "exists", exists, "preconditions", preconditions+", "+erasedAt,
		"from", w.FromSubject(0))
	l.AddMark = addMarkStatement(w, 1)
	if w.Dialect.ForUpdate() == "" {
		return l
	}
	l.AddMarkAndLock = w.Tables.Fill(addMarkAndLock, "exists", exists, "preconditions", preconditions,
		"mark", addMarkStatement(w, keys+1),
		"lock consents", ledger.Lock(w.Dialect, w.Tables, ledger.Consents, "subject_id"),
		"lock restrictions", ledger.Lock(w.Dialect, w.Tables, ledger.Restrictions, "subject_id"),
		"table", syntax.QuoteTable(subject.Name), "rows", w.RowsOf(subject, domain.Path{}, 0))
	l.Levels, l.Tables = w.LockLevels()
	l.Tables = append([]string{subject.Name}, l.Tables...)
	return l
}

// addMarkStatement returns the statement that adds or updates the mark, the row that records the erasures of a subject. The
// number first is that of the first of its parameters.
func addMarkStatement(w *rows.Writer, first int) string {
	column, number, lockCondition := subjectDialectOf(w.Dialect).intakeParts(w.Tables)
	return w.Tables.Fill(addMark, "subject", syntax.Placeholder(first),
		"instant", subjectDialectOf(w.Dialect).erasureInstant(w.Tables, syntax.Placeholder(first+1), syntax.Placeholder(first+2)),
		"column", column, "number", number, "lock condition", lockCondition)
}

// erasureInstant returns the expression for domain.ErasureInstant. The parameters are those of MarkInstant.
func (postgres) erasureInstant(tables syntax.Tables, at, exact string) string {
	return tables.Fill(`(
			SELECT CASE
				WHEN {exact} OR {at} NOT BETWEEN clock.now - interval '1 day' AND clock.now + interval '1 day' THEN {at}
				ELSE GREATEST(clock.now, ({last} WHERE l.erased_at <= clock.now + interval '1 day')) END
			FROM (SELECT clock_timestamp() AS now) AS clock)`,
		"exact", "CAST("+exact+" AS boolean)", "at", "CAST("+at+" AS timestamptz)", "last", tables.Fill(lastErasedAt))
}

// markInstant returns the parameters of the instant of an erasure. The database has a clock of its own.
func (postgres) markInstant(at time.Time, exact bool) [2]any {
	return [2]any{syntax.Postgres.Instant(at), exact}
}

func (sqlite) erasureInstant(tables syntax.Tables, at, latest string) string {
	return tables.Fill(`max(CAST({at} AS text), COALESCE(({last} WHERE l.erased_at <= {latest}), ''))`,
		"at", at, "latest", latest, "last", tables.Fill(lastErasedAt))
}

// markInstant returns the parameters of the instant of an erasure. The clock of the database is that of the machine,
// because all processes that use the file run on it. The second parameter is the latest instant of the last mark that
// the erasure must not precede.
func (sqlite) markInstant(at time.Time, exact bool) [2]any {
	clock := time.Now()
	instant := domain.ErasureInstant(at, clock, time.Time{})
	if exact || !instant.Equal(domain.Instant(clock)) {
		return [2]any{syntax.SQLite.Instant(at), ""}
	}
	return [2]any{syntax.SQLite.Instant(instant), syntax.SQLite.Instant(clock.Add(domain.MaxClockError))}
}

// MarkInstant returns the two parameters of the instant of an erasure by the clock of the process. If exact is true, the
// mark gets this instant.
func MarkInstant(d syntax.Dialect, at time.Time, exact bool) [2]any {
	return subjectDialectOf(d).markInstant(at, exact)
}
