package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Locks holds the statements that lock a subject. The statements that read the subject's row return whether the row
// exists, followed by a sight. A sight is the fingerprint of the catalog and the text of each text column of the
// subject's key.
type Locks struct {
	Mark       string // leaves a mark of an erasure: $1 is the subject, $2 the instant
	MarkAndRow string // Mark, after the key; also locks the ledgers and the subject's row; empty if Mark locks all
	Hold       string // locks the mark and returns the number of erasures
	Release    string // removes a mark that belongs to no erasure
	Look       string // reads the subject's row
	Isolation  string // returns the isolation level of the transaction; empty if every level is sufficient
	Levels     []Level
	Tables     []string // the tables whose rows are locked
	Spelled    []int    // the indexes of the text elements of the key
	sight      []string // the expressions of a sight
	Erasures   string   // counts the committed erasures of the subject $1
}

// Level is a statement that locks rows of tables through which other tables reach the subject. All of these tables have
// the same distance from the subject, counted in relations. The parameters are the subject's key, once for each path of
// each table.
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

	// The FOR UPDATE clause applies after the join, so the mark exists before the row is locked.
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

// NewLocks returns the locks of a data map.
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

// leaveMark returns the statement that leaves a mark of an erasure.
func (w *Writer) leaveMark(subject, instant string) string {
	column, number, taken := w.Dialect.intake(w.Tables)
	return w.Tables.in(leaveMark, "subject", subject, "instant", instant, "type", w.Dialect.instantType(),
		"column", column, "number", number, "taken", taken)
}

// fromSubject returns the FROM clause that reads the subject's row. Its parameters are numbered after the given number
// of other parameters.
func (w *Writer) fromSubject(others int) string {
	subject := w.DataMap.SubjectTable()
	return fill(fromSubject, "table", quoteTable(subject.Name), "rows", w.rowsOf(subject, domain.Path{}, others))
}

// locked is a table whose rows are locked, with a path from the table to the subject.
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
