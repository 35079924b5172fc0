package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Locks are the statements that lock a subject. Those that concern the subject's row return whether there is one, and
// a sight.
type Locks struct {
	Mark       string // leaves a mark of an erasure: $1 is the subject, $2 the instant
	MarkAndRow string // the same after the key, and locks the ledgers and the subject's row; empty if the mark locks all
	Hold       string // locks the mark and returns how many erasures there were
	Release    string // removes a mark that stands for no erasure
	Look       string // reads the subject's row
	Isolation  string // returns the isolation level of the transaction; empty where every level will do
	Levels     []Level
	Tables     []string // whose rows are locked
	Spelled    []int    // which elements of the key are texts
	sight      []string // the expressions of a sight
	Erasures   string   // counts the erasures of the subject $1 that are committed
}

// Level is a statement that locks rows of tables that others reach the subject through. All of these tables are as many
// relations away from the subject. Its parameters are the subject's key, once for each table and each of its paths.
type Level struct {
	Text   string
	Tables int
}

const (
	leaveMark = `
		INSERT INTO {erasures} AS e (subject_id, erased_at, erasures{column})
		SELECT CAST({subject} AS text), CAST({instant} AS {type}), 1{number} WHERE {taken}
		ON CONFLICT (subject_id) DO UPDATE SET erased_at = excluded.erased_at, erasures = e.erasures + 1,
			intake = excluded.intake`

	holdMark = `
		INSERT INTO {erasures} AS e (subject_id, erased_at, erasures, intake) VALUES ($1, $2, 0, 0)
		ON CONFLICT (subject_id) DO UPDATE SET erasures = e.erasures
		RETURNING erasures`

	releaseMark   = `DELETE FROM {erasures} WHERE subject_id = $1 AND erasures = 0`
	countErasures = `SELECT erasures FROM {erasures} WHERE subject_id = $1`

	look = `SELECT {there}, {sight} {from}`

	// LockRows comes after the join, so that the mark is there before the row is locked.
	markAndRow = `
		WITH mark AS ({mark}
			RETURNING {lock consents}, {lock restrictions})
		SELECT {there}, {sight}
		FROM {table} AS t0 CROSS JOIN mark
		WHERE {rows}
		FOR UPDATE OF t0`

	// fromSubject follows the expressions of a statement. It returns one row of NULL if the subject has no row.
	fromSubject = `FROM (SELECT 1) AS one LEFT JOIN {table} AS t0 ON {rows}`

	lockRows = `{name} AS (SELECT 1 FROM {table} AS t0 WHERE {rows} FOR UPDATE OF t0)`
)

// NewLocks writes the statements.
func NewLocks(w *Writer) *Locks {
	subject := w.DataMap.SubjectTable()
	l := &Locks{
		Mark:      w.leaveMark("$1", "$2"),
		Hold:      w.Tables.in(holdMark),
		Release:   w.Tables.in(releaseMark),
		Erasures:  w.Tables.in(countErasures),
		Isolation: w.Dialect.isolation(),
		sight:     []string{w.Dialect.fingerprint(w.Touched)},
	}
	for i, name := range subject.SubjectKey {
		if column, _ := subject.Column(name); column.Type == domain.TypeText {
			l.Spelled = append(l.Spelled, i)
			l.sight = append(l.sight, "CAST(t0."+Quote(name)+" AS text)")
		}
	}
	there, sight := "t0."+Quote(subject.SubjectKey[0])+" IS NOT NULL", strings.Join(l.sight, ", ")
	l.Look = fill(look, "there", there, "sight", sight, "from", w.fromSubject(0))
	if w.Dialect.forUpdate() == "" {
		return l
	}
	keys := len(subject.SubjectKey)
	l.MarkAndRow = w.Tables.in(markAndRow, "there", there, "sight", sight,
		"mark", w.leaveMark(parameter(keys+1), parameter(keys+2)),
		"lock consents", w.Dialect.lockLedger(Consents, "subject_id"),
		"lock restrictions", w.Dialect.lockLedger(Restrictions, "subject_id"),
		"table", quoteTable(subject.Name), "rows", w.rowsOf(subject, domain.Path{}, 0))
	l.Levels, l.Tables = w.newLevels()
	l.Tables = append([]string{subject.Name}, l.Tables...)
	return l
}

// leaveMark is the statement that leaves a mark of an erasure.
func (w *Writer) leaveMark(subject, instant string) string {
	column, number, taken := w.Dialect.intake(w.Tables)
	return w.Tables.in(leaveMark, "subject", subject, "instant", instant, "type", w.Dialect.instantType(),
		"column", column, "number", number, "taken", taken)
}

// fromSubject reads the subject's row. Its parameters come after others.
func (w *Writer) fromSubject(others int) string {
	subject := w.DataMap.SubjectTable()
	return fill(fromSubject, "table", quoteTable(subject.Name), "rows", w.rowsOf(subject, domain.Path{}, others))
}

// locked is a table whose rows are locked that a path leads from to the subject.
type locked struct {
	domain.Table
	path domain.Path
}

// newLevels returns the statements for the tables through which others reach the subject, and the names of the tables.
// The tables next to the subject come first.
func (w *Writer) newLevels() (levels []Level, names []string) {
	var byDistance [][]locked
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
			byDistance[distance-1] = append(byDistance[distance-1], locked{table, path})
		}
	}
	levels = make([]Level, len(byDistance))
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
		levels[i] = Level{"WITH " + strings.Join(selects, ", ") + " SELECT " + strings.Join(counts, ", "), len(tables)}
	}
	return levels, names
}
