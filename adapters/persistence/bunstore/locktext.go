package bunstore

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// locking are the statements that lock a subject. Those that concern the subject's row return whether there is one, and
// a sight.
type locking struct {
	mark       string // leaves a mark of an erasure: $1 is the subject, $2 the instant
	markAndRow string // the same after the key, and locks the ledgers and the subject's row; empty if the mark locks all
	hold       string // locks the mark and returns how many erasures there were
	release    string // removes a mark that stands for no erasure
	look       string // reads the subject's row
	isolation  string // returns the isolation level of the transaction; empty where every level will do
	levels     []level
	tables     []string // whose rows are locked
	spelled    []int    // which elements of the key are texts
	sight      []string // the expressions of a sight
}

// level is a statement that locks rows of tables that others reach the subject through. All of these tables are as many
// relations away from the subject. Its parameters are the subject's key, once for each table.
type level struct {
	text   string
	tables int
}

func newLocking(s *Store) locking {
	subject := s.dataMap.SubjectTable()
	l := locking{
		mark:      insertMark(s.tables.erasures, "1", "erased_at = excluded.erased_at, erasures = e.erasures + 1", 0),
		hold:      insertMark(s.tables.erasures, "0", "erasures = e.erasures", 0) + " RETURNING erasures",
		release:   "DELETE FROM " + s.tables.erasures + " WHERE subject_id = $1 AND erasures = 0",
		isolation: s.dialect.isolation(),
	}
	l.sight = []string{s.dialect.fingerprint(s.touched)}
	for i, name := range subject.SubjectKey {
		if column, _ := subject.Column(name); column.Type == domain.TypeText {
			l.spelled = append(l.spelled, i)
			l.sight = append(l.sight, "CAST(t0."+quote(name)+" AS text)")
		}
	}
	selected := "SELECT t0." + quote(subject.SubjectKey[0]) + " IS NOT NULL, " + strings.Join(l.sight, ", ")
	l.look = selected + s.ofSubject(0)
	if s.dialect.forUpdate() == "" {
		return l
	}
	// LockRows comes after the join, so that the mark is there before the row is locked.
	keys := len(subject.SubjectKey)
	mark := insertMark(s.tables.erasures, "1", "erased_at = excluded.erased_at, erasures = e.erasures + 1", keys)
	ledgers := s.dialect.lockLedger(consents, "subject_id") + ", " + s.dialect.lockLedger(restrictions, "subject_id")
	l.markAndRow = "WITH mark AS (" + mark + " RETURNING " + ledgers + ") " + selected +
		" FROM " + quoteTable(subject.Name) + " AS t0 CROSS JOIN mark" +
		" WHERE " + s.rowsOf(subject, 0) + s.dialect.forUpdate() + " OF t0"
	l.levels, l.tables = s.newLevels()
	l.tables = append([]string{subject.Name}, l.tables...)
	return l
}

// ofSubject follows the expressions of a statement and reads the subject's row. It returns one row of NULL if the
// subject has no row.
func (s *Store) ofSubject(others int) string {
	subject := s.dataMap.SubjectTable()
	return " FROM (SELECT 1) AS one LEFT JOIN " + quoteTable(subject.Name) + " AS t0 ON " + s.rowsOf(subject, others)
}

// insertMark is the statement that locks the mark of a subject. Its parameters come after others in the statement.
func insertMark(table, erasures, update string, others int) string {
	return "INSERT INTO " + table + " AS e (subject_id, erased_at, erasures) VALUES (" +
		parameter(others+1) + ", " + parameter(others+2) + ", " + erasures + ")" +
		" ON CONFLICT (subject_id) DO UPDATE SET " + update
}

// newLevels returns the statements for the tables through which others reach the subject, and the names of the tables.
// The tables next to the subject come first.
func (s *Store) newLevels() (levels []level, names []string) {
	var byDistance [][]domain.Table
	for _, table := range s.touched {
		distance := len(s.dataMap.Path(table.Name))
		isParent := slices.ContainsFunc(s.touched, func(child domain.Table) bool {
			path := s.dataMap.Path(child.Name)
			return len(path) > 0 && path[0].References == table.Name
		})
		if distance == 0 || !isParent {
			continue
		}
		for len(byDistance) < distance {
			byDistance = append(byDistance, nil)
		}
		byDistance[distance-1] = append(byDistance[distance-1], table)
	}
	levels = make([]level, len(byDistance))
	keys := len(s.dataMap.SubjectTable().SubjectKey)
	for i, tables := range byDistance {
		locked, counts := make([]string, len(tables)), make([]string, len(tables))
		for j, table := range tables {
			names = append(names, table.Name)
			name := "l" + strconv.Itoa(j)
			locked[j] = name + " AS (SELECT 1 FROM " + quoteTable(table.Name) + " AS t0 WHERE " +
				s.rowsOf(table, j*keys) + s.dialect.forUpdate() + " OF t0)"
			counts[j] = "(SELECT count(*) FROM " + name + ")"
		}
		levels[i] = level{"WITH " + strings.Join(locked, ", ") + " SELECT " + strings.Join(counts, ", "), len(tables)}
	}
	return levels, names
}
