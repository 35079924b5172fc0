package rows

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// LockLevel is a statement that locks rows to which rows of other tables refer. For example, it locks the orders of a
// subject, because the items of orders refer to them. All tables of a level have the same distance from the subject,
// counted in relations. The parameters are the subject's key, repeated Tables times.
type LockLevel struct {
	Text   string
	Tables int // the number of pairs of a table and a path
}

const (
	lockRows  = `{name} AS (` + lockTable + `)`
	lockTable = `SELECT 1 FROM {table} AS t0 WHERE {rows} FOR UPDATE OF t0`
)

// ExplainLock returns a statement that PostgreSQL refuses if it cannot lock the rows of the table. It locks no row. Its
// parameters are the subject's key.
func (w *Writer) ExplainLock(table datamap.Table) string {
	return "EXPLAIN " + syntax.Fill(lockTable, "table", syntax.QuoteTable(table.Name),
		"rows", w.RowsOf(table, w.DataMap.Paths(table.Name)[0], 0))
}

// lockedPath is a table whose rows are locked, and one path from the table to the subject.
type lockedPath struct {
	datamap.Table
	path datamap.Path
}

// LockLevels returns a LockLevel for each distance from the subject, nearest first, and the names of all tables of
// these levels. A table belongs to a level if it lies on the path from another table to the subject, or if an erasure
// clears references to its deleted rows (datamap.SelfReference).
func (w *Writer) LockLevels() (levels []LockLevel, names []string) {
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
			selects[j] = syntax.Fill(lockRows, "name", name, "table", syntax.QuoteTable(table.Name),
				"rows", w.RowsOf(table.Table, table.path, j*keys))
			counts[j] = "(SELECT count(*) FROM " + name + ")"
		}
		levels[i] = LockLevel{"WITH " + strings.Join(selects, ", ") + " SELECT " + strings.Join(counts, ", "), len(tables)}
	}
	return levels, names
}

// readSubject is the end of a statement that reads the subject's row. It returns one row of NULLs if the subject has
// no row.
const readSubject = `FROM (SELECT 1) AS one LEFT JOIN {table} AS t0 ON {rows}`

// FromSubject returns the FROM clause that reads the subject's row. The placeholders of the subject's key start at
// $(offset+1).
func (w *Writer) FromSubject(offset int) string {
	subject := w.DataMap.SubjectTable()
	return syntax.Fill(readSubject, "table", syntax.QuoteTable(subject.Name),
		"rows", w.RowsOf(subject, datamap.Path{}, offset))
}
