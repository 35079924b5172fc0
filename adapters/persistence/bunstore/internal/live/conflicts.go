package live

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// StatesConflicts reports whether an UPDATE of the table may run a trigger of SQLite with a statement such as INSERT OR
// IGNORE. The conflict clause of the UPDATE would also apply to this statement, which the application expects to ignore
// or to replace a row.
func (c *Schema) StatesConflicts(table string) bool { return c.mapped[table].conflicts }

// statesConflicts derives the result of StatesConflicts. It follows each table that the code of a trigger names, and
// each table with a foreign key to one of them.
func (l *reader) statesConflicts(table *Table) bool {
	if !table.FoldsCase {
		return false
	}
	reached := []*Table{table}
	add := func(found *Table) {
		if found != nil && !slices.Contains(reached, found) {
			reached = append(reached, found)
		}
	}
	for i := 0; i < len(reached); i++ { // reached grows in the loop
		for _, code := range reached[i].Statements(l.d) {
			if statesConflict(code) {
				return true
			}
			for at := range code {
				add(l.Find(reached[i].Schema, code.NameAt(at)))
			}
		}
		for _, child := range l.order {
			for _, key := range child.ForeignKeys {
				if l.Find(child.Schema, key.References) == reached[i] {
					add(child)
				}
			}
		}
	}
	return false
}

// statesConflict reports whether the code has INSERT OR, UPDATE OR or REPLACE INTO.
func statesConflict(code sqltext.Tokens) bool {
	for i := range code {
		if code.Is(i, "or") && code.Is(i-1, "insert", "update") || code.Is(i, "replace") && code.Is(i+1, "into") {
			return true
		}
	}
	return false
}

// RowID returns the columns that identify a row of a SQLite table, also a row whose primary key contains NULL.
func (t *Table) RowID() []string {
	text := sqltext.TokensOf(t.Text, sqltext.QuotesOfSQLite)
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		isColumn := slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool { return syntax.Lower(c.Name) == name })
		if !isColumn && !text.Is(len(text)-1, "rowid") && !text.Is(len(text)-3, "rowid") {
			return []string{name}
		}
	}
	return t.PrimaryKey
}

// Replaces reports whether a constraint of a SQLite table deletes other rows instead of refusing a row (ON CONFLICT
// REPLACE).
func (t *Table) Replaces() bool {
	if !t.FoldsCase {
		return false
	}
	text := sqltext.TokensOf(t.Text, sqltext.QuotesOfSQLite)
	for i := range text {
		if text.Is(i, "conflict") && text.Is(i+1, "replace") {
			return true
		}
	}
	return false
}

// addConflicts adds the conflict clauses of a table of SQLite. The parameter text is the definition of the table. The
// clause of a CHECK constraint has no effect.
func (l *reader) addConflicts(table *Table, text sqltext.Tokens) {
	depth, bracket, column := 0, 0, ""
	for i := range text {
		switch {
		case text.IsSign(i, "("):
			if depth++; depth == 2 {
				bracket = i
			}
		case text.IsSign(i, ")"):
			depth--
		}
		if depth == 1 && text.IsSign(i, "(", ",") && i+1 < len(text) {
			column = text[i+1].Text // or the first word of a constraint of the table
		}
		if !text.Is(i-2, "on") || !text.Is(i-1, "conflict") || text.Is(i, "abort") {
			continue
		}
		conflict := datamap.CatalogConflict{
			Columns: []string{column}, Action: strings.ToUpper(text[i].Text), NotNull: text.Is(i-3, "null"),
		}
		if text.IsSign(i-3, ")") {
			if !text.Is(bracket-1, "unique", "key") {
				continue
			}
			conflict.Columns = l.columnsIn(text[bracket:i-2], table)
		}
		table.Conflicts = append(table.Conflicts, conflict)
	}
}
