package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
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
	// SubjectRowAdded is SubjectRow with two further columns: the value from which datamap.ReadAddedAt reads the creation
	// time, and erased_at of the mark. Its parameters are the subject's key and the id.
	SubjectRowAdded string
	Transaction     string // see Dialect.transaction
	Levels          []LockLevel
	Tables          []string // the tables whose rows are locked
	TextElements    []int    // the indexes of the subject's key columns that hold texts
	exists          string   // the expression that reports whether the subject has a row
	preconditions   []string // the expressions of the preconditions
	Erasures        string   // returns the number of committed erasures of the subject $1
}

// LockLevel is a statement that locks rows to which rows of other tables refer. For example, it locks the orders of a
// subject, because the items of orders refer to them. All tables of a level have the same distance from the subject,
// counted in relations. The parameters are the subject's key, repeated Tables times.
type LockLevel struct {
	Text   string
	Tables int // the number of pairs of a table and a path
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

	// fromSubject is the end of a statement that reads the subject's row. It returns one row of NULLs if the subject has
	// no row.
	fromSubject = `FROM (SELECT 1) AS one LEFT JOIN {table} AS t0 ON {rows}`

	lockRows = `{name} AS (SELECT 1 FROM {table} AS t0 WHERE {rows} FOR UPDATE OF t0)`
)

// NewLocks returns the statements that lock the subjects of the data map of w.
func NewLocks(w *Writer) *Locks {
	subject := w.DataMap.SubjectTable()
	l := &Locks{
		LockMark:         w.Tables.fill(lockMark),
		DeleteUnusedMark: w.Tables.fill(deleteUnusedMark),
		Erasures:         w.Tables.fill(countErasures),
		Transaction:      w.Dialect.transaction(),
		preconditions:    []string{w.Dialect.fingerprint(w.Touched, w.Tables)},
	}
	for i, name := range subject.SubjectKey {
		if column, _ := subject.Column(name); column.Type == datamap.TypeText {
			l.TextElements = append(l.TextElements, i)
			l.preconditions = append(l.preconditions, "CAST(t0."+Quote(name)+" AS text)")
		}
	}
	exists, preconditions := "t0."+Quote(subject.SubjectKey[0])+" IS NOT NULL", strings.Join(l.preconditions, ", ")
	l.exists = exists
	l.SubjectRow = fill(readSubjectRow, "exists", exists, "preconditions", preconditions, "from", w.fromSubject(0))
	keys := len(subject.SubjectKey)
	preconditions += ", " + w.addedValue()
	erasedAt := w.Tables.fill(readErasedAt, "subject", placeholder(keys+1))
	l.SubjectRowAdded = fill(readSubjectRow, "exists", exists, "preconditions", preconditions+", "+erasedAt,
		"from", w.fromSubject(0))
	l.AddMark = w.addMark(1)
	if w.Dialect.forUpdate() == "" {
		return l
	}
	l.AddMarkAndLock = w.Tables.fill(addMarkAndLock, "exists", exists, "preconditions", preconditions,
		"mark", w.addMark(keys+1),
		"lock consents", w.Dialect.lockLedger(w.Tables, Consents, "subject_id"),
		"lock restrictions", w.Dialect.lockLedger(w.Tables, Restrictions, "subject_id"),
		"table", quoteTable(subject.Name), "rows", w.rowsOf(subject, datamap.Path{}, 0))
	l.Levels, l.Tables = w.newLevels()
	l.Tables = append([]string{subject.Name}, l.Tables...)
	return l
}

// addMark returns the statement that adds or updates the mark, the row that records the erasures of a subject. The
// number first is that of the first of its parameters.
func (w *Writer) addMark(first int) string {
	column, number, lockCondition := w.Dialect.intakeParts(w.Tables)
	return w.Tables.fill(addMark, "subject", placeholder(first),
		"instant", w.Dialect.erasureInstant(w.Tables, placeholder(first+1), placeholder(first+2)),
		"column", column, "number", number, "lock condition", lockCondition)
}

// erasureInstant returns the expression for domain.ErasureInstant. The parameters are those of MarkInstant.
func (postgres) erasureInstant(tables Tables, at, exact string) string {
	return tables.fill(`(
			SELECT CASE
				WHEN {exact} OR {at} NOT BETWEEN clock.now - interval '1 day' AND clock.now + interval '1 day' THEN {at}
				ELSE GREATEST(clock.now, ({last} WHERE l.erased_at <= clock.now + interval '1 day')) END
			FROM (SELECT clock_timestamp() AS now) AS clock)`,
		"exact", "CAST("+exact+" AS boolean)", "at", "CAST("+at+" AS timestamptz)", "last", tables.fill(lastErasedAt))
}

// MarkInstant returns the parameters of the instant of an erasure. The database has a clock of its own.
func (p postgres) MarkInstant(at time.Time, exact bool) [2]any { return [2]any{p.Instant(at), exact} }

func (sqlite) erasureInstant(tables Tables, at, latest string) string {
	return tables.fill(`max(CAST({at} AS text), COALESCE(({last} WHERE l.erased_at <= {latest}), ''))`,
		"at", at, "latest", latest, "last", tables.fill(lastErasedAt))
}

// MarkInstant returns the parameters of the instant of an erasure. The clock of the database is that of the machine,
// because all processes that use the file run on it. The second parameter is the latest instant of the last mark that
// the erasure must not precede.
func (s sqlite) MarkInstant(at time.Time, exact bool) [2]any {
	clock := time.Now()
	instant := domain.ErasureInstant(at, clock, time.Time{})
	if exact || !instant.Equal(domain.Instant(clock)) {
		return [2]any{s.Instant(at), ""}
	}
	return [2]any{s.Instant(instant), s.Instant(clock.Add(domain.MaxClockError))}
}

// fromSubject returns the FROM clause that reads the subject's row. The placeholders of the subject's key start at
// $(offset+1).
func (w *Writer) fromSubject(offset int) string {
	subject := w.DataMap.SubjectTable()
	return fill(fromSubject, "table", quoteTable(subject.Name), "rows", w.rowsOf(subject, datamap.Path{}, offset))
}

// lockedPath is a table whose rows are locked, and one path (chain of references) from the table to the subject.
type lockedPath struct {
	datamap.Table
	path datamap.Path
}

// newLevels returns a LockLevel for each distance from the subject, nearest first, and the names of all tables of these
// levels. A table belongs to a level if it lies on the path from another table to the subject, or if an erasure clears
// references to its deleted rows (datamap.SelfReference).
func (w *Writer) newLevels() (levels []LockLevel, names []string) {
	var byDistance [][]lockedPath
	for _, table := range w.Touched {
		isParent := slices.ContainsFunc(w.Touched, func(child datamap.Table) bool {
			return slices.ContainsFunc(w.DataMap.Paths(child.Name), func(p datamap.Path) bool {
				return len(p.Relations) > 0 && p.Relations[0].References == table.Name
			})
		})
		for _, path := range w.DataMap.Paths(table.Name) {
			distance := len(path.Relations)
			if distance == 0 || !isParent && len(w.DataMap.SelfReferences(table)) == 0 {
				continue
			}
			for len(byDistance) < distance {
				byDistance = append(byDistance, nil)
			}
			byDistance[distance-1] = append(byDistance[distance-1], lockedPath{table, path})
		}
	}
	levels = make([]LockLevel, len(byDistance))
	keys := len(w.DataMap.SubjectTable().SubjectKey)
	for i, tables := range byDistance {
		selects, counts := make([]string, len(tables)), make([]string, len(tables))
		for j, table := range tables {
			if !slices.Contains(names, table.Name) {
				names = append(names, table.Name)
			}
			name := "l" + strconv.Itoa(j)
			selects[j] = fill(lockRows, "name", name, "table", quoteTable(table.Name),
				"rows", w.rowsOf(table.Table, table.path, j*keys))
			counts[j] = "(SELECT count(*) FROM " + name + ")"
		}
		levels[i] = LockLevel{"WITH " + strings.Join(selects, ", ") + " SELECT " + strings.Join(counts, ", "), len(tables)}
	}
	return levels, names
}
