package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Locks holds the statements that lock a subject. The mark of a subject is the row that records its erasures.
//
// A statement that reads the subject's row returns whether the row exists, and then the preconditions, which the caller
// must check before it continues. The preconditions are the fingerprint (a hash of the table definitions) and the
// stored text of each text column of the subject's key.
type Locks struct {
	// AddMark adds or updates the mark of a subject for an erasure. Its parameters are the subject's key, the id, and the
	// instant.
	AddMark string

	// AddMarkAndLock adds or updates the mark like AddMark, reads the subject's row, and locks this row and the subject's
	// ledgers (consents and restrictions). Its parameters are the subject's key and the parameters of AddMark. It is ""
	// for SQLite, because AddMark then locks the database.
	AddMarkAndLock string

	// LockMark locks the mark (the row of erasures) of the subject $1 and returns its number of erasures. If there is no
	// mark, LockMark adds a mark with the instant $2 and 0 erasures.
	LockMark         string
	DeleteUnusedMark string // deletes the mark of the subject $1 if it records no erasure and no registration

	SubjectRow     string // reads the preconditions, and whether the subject has a row
	IsolationLevel string // returns the isolation level of the transaction; "" if every level is sufficient
	Levels         []LockLevel
	Tables         []string // the tables whose rows are locked
	TextElements   []int    // the indexes of the subject's key columns that hold texts
	exists         string   // the expression that reports whether the subject has a row
	preconditions  []string // the expressions of the preconditions
	Erasures       string   // returns the number of committed erasures of the subject $1
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
		INSERT INTO {erasures} AS e (subject_id, erased_at, erasures, added_at{column})
		SELECT CAST({subject} AS text), CAST({instant} AS {type}), 1, {added}{number} WHERE {lock condition}
		ON CONFLICT (subject_id) DO UPDATE SET erased_at = excluded.erased_at, erasures = e.erasures + 1,
			intake = excluded.intake, added_at = COALESCE(excluded.added_at, e.added_at), registered_at = NULL,
			registered_added_at = NULL`

	addedAt = `(SELECT {instant} FROM {table} AS t0 WHERE {rows} LIMIT 1)`

	lockMark = `
		INSERT INTO {erasures} AS e (subject_id, erased_at, erasures, intake) VALUES ($1, $2, 0, 0)
		ON CONFLICT (subject_id) DO UPDATE SET erasures = e.erasures
		RETURNING erasures`

	deleteUnusedMark = `DELETE FROM {erasures} WHERE subject_id = $1 AND erasures = 0 AND registered_at IS NULL`
	countErasures    = `SELECT erasures FROM {erasures} WHERE subject_id = $1`

	readSubjectRow = `SELECT {exists}, {preconditions} {from}`

	// The statement adds the mark (the row of the erasure) before it locks the subject's row, because FOR UPDATE locks
	// this row only after the join with the mark.
	addMarkAndLock = `
		WITH mark AS ({mark}
			RETURNING {lock consents}, {lock restrictions})
		SELECT {exists}, {preconditions}
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
		IsolationLevel:   w.Dialect.isolationLevel(),
		preconditions:    []string{w.Dialect.fingerprint(w.Touched)},
	}
	for i, name := range subject.SubjectKey {
		if column, _ := subject.Column(name); column.Type == domain.TypeText {
			l.TextElements = append(l.TextElements, i)
			l.preconditions = append(l.preconditions, "CAST(t0."+Quote(name)+" AS text)")
		}
	}
	exists, preconditions := "t0."+Quote(subject.SubjectKey[0])+" IS NOT NULL", strings.Join(l.preconditions, ", ")
	l.exists = exists
	l.SubjectRow = fill(readSubjectRow, "exists", exists, "preconditions", preconditions, "from", w.fromSubject(0))
	keys := len(subject.SubjectKey)
	l.AddMark = w.addMark(placeholder(keys+1), placeholder(keys+2))
	if w.Dialect.forUpdate() == "" {
		return l
	}
	l.AddMarkAndLock = w.Tables.fill(addMarkAndLock, "exists", exists, "preconditions", preconditions,
		"mark", l.AddMark,
		"lock consents", w.Dialect.lockLedger(w.Tables, Consents, "subject_id"),
		"lock restrictions", w.Dialect.lockLedger(w.Tables, Restrictions, "subject_id"),
		"table", quoteTable(subject.Name), "rows", w.rowsOf(subject, domain.Path{}, 0))
	l.Levels, l.Tables = w.newLevels()
	l.Tables = append([]string{subject.Name}, l.Tables...)
	return l
}

// addMark returns the statement that adds or updates the mark, the row that records the erasures of a subject. The
// parameters subject and instant are placeholders. The statement stores the creation time of the subject's row. The
// placeholders of the subject's key start at $1.
func (w *Writer) addMark(subject, instant string) string {
	column, number, lockCondition := w.Dialect.intakeParts(w.Tables)
	return w.Tables.fill(addMark, "subject", subject, "instant", instant, "type", w.Dialect.instantType(),
		"column", column, "number", number, "lock condition", lockCondition, "added", w.addedAt())
}

// addedAt returns the expression for the creation time of the subject's row, or NULL. See domain.Table.AddedAt.
func (w *Writer) addedAt() string {
	subject := w.DataMap.SubjectTable()
	column, ok := subject.AddedAt()
	if !ok {
		return "CAST(NULL AS " + w.Dialect.instantType() + ")"
	}
	return fill(addedAt, "instant", w.Dialect.instantOf("t0."+Quote(column.Name)), "table", quoteTable(subject.Name),
		"rows", w.rowsOf(subject, domain.Path{}, 0))
}

// fromSubject returns the FROM clause that reads the subject's row. The placeholders of the subject's key start at
// $(offset+1).
func (w *Writer) fromSubject(offset int) string {
	subject := w.DataMap.SubjectTable()
	return fill(fromSubject, "table", quoteTable(subject.Name), "rows", w.rowsOf(subject, domain.Path{}, offset))
}

// lockedPath is a table whose rows are locked, and one path (chain of references) from the table to the subject.
type lockedPath struct {
	domain.Table
	path domain.Path
}

// newLevels returns a LockLevel for each distance from the subject, nearest first, and the names of all tables of these
// levels. A table belongs to a level if it lies on the path (chain of references) from another table to the subject.
func (w *Writer) newLevels() (levels []LockLevel, names []string) {
	var byDistance [][]lockedPath
	for _, table := range w.Touched {
		isParent := slices.ContainsFunc(w.Touched, func(child domain.Table) bool {
			return slices.ContainsFunc(w.DataMap.Paths(child.Name), func(p domain.Path) bool {
				return len(p.Relations) > 0 && p.Relations[0].References == table.Name
			})
		})
		for _, path := range w.DataMap.Paths(table.Name) {
			distance := len(path.Relations)
			if distance == 0 || !isParent {
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
