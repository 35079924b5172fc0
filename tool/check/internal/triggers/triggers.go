// Package triggers reads the code of a trigger: which columns the trigger sets in its own row.
package triggers

import (
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// Assignment is a column that a trigger sets in its own row.
type Assignment struct {
	Column string
	Reads  []string // the columns that the value is made of; "*" means the complete row
	Old    bool     // the value is made of the row before the statement
	// Follows are columns of the table. Each UPDATE that changes one of them sets Column to a new value, which is not made
	// of the old row.
	Follows []string
}

// trigger is a trigger or a rule of a table, with the parts of the statement that creates it.
type trigger struct {
	datamap.CatalogTrigger
	table datamap.CatalogTable
	of    sqltext.Tokens   // the columns of UPDATE OF, or none
	when  []sqltext.Tokens // the conditions under which the database fires the trigger
	calls string           // the database function that it executes, without a schema
	args  []string         // the arguments of the function
}

// These functions of PostgreSQL work on the columns that the arguments of their triggers name. The first argument of
// each is a column. The arguments after the second are the columns that a full-text search covers.
const (
	unlinker     = "lo_manage" // of the extension lo
	searcher     = "tsvector_update_trigger"
	searcherOfIt = "tsvector_update_trigger_column"
)

// Read returns the columns that a trigger of the table sets in its own row to a value made of this row, and the column
// whose large objects the trigger deletes with lo_manage, or "". The code of called database functions does not count.
func Read(table datamap.CatalogTable, of datamap.CatalogTrigger) (sets []Assignment, unlinks string) {
	quotes := sqltext.QuotesOfPostgres
	if table.FoldsCase {
		quotes = sqltext.QuotesOfSQLite
	}
	definition := sqltext.TokensOf(of.Definition, quotes)
	t := trigger{CatalogTrigger: of, table: table}
	t.readHeader(definition)
	switch isSearch := t.calls == searcher || t.calls == searcherOfIt; {
	case of.Language == "":
		return t.assignments(definition.Body()), ""
	case of.Language == "sql", of.Language == "plpgsql":
		return t.assignments(sqltext.TokensOf(of.Code, quotes).Body()), ""
	case of.Language == "c" && t.calls == unlinker && len(t.args) > 0:
		return nil, t.args[0]
	case of.Language == "internal" && isSearch && len(t.args) > 2:
		return []Assignment{{Column: t.args[0], Reads: t.args[2:], Follows: t.follows(nil, 0, nil)}}, ""
	}
	return nil, ""
}

// readHeader reads the columns, the condition, and the database function of a trigger or rule from the statement that
// creates it, such as CREATE TRIGGER name BEFORE UPDATE OF column ON table WHEN condition EXECUTE FUNCTION name.
func (t *trigger) readHeader(definition sqltext.Tokens) {
	text := definition.Until(0, "begin", "execute", "do")
	t.readCall(definition[len(text):])
	for i := text.AfterCreate("trigger"); i < len(text); i++ {
		if text.Is(i, "when", "where") {
			t.when = append(t.when, text[i+1:])
			return
		}
		if text.Is(i, "update") && text.Is(i+1, "of") {
			t.of = text[i+2:].Until(0, "on")
		}
	}
}

// readCall reads the function and its arguments from the end of a definition, such as EXECUTE FUNCTION name('column').
func (t *trigger) readCall(text sqltext.Tokens) {
	if !text.Is(0, "execute") {
		return
	}
	name := text.NameAt(2)
	t.calls = name[strings.LastIndex(name, ".")+1:]
	for _, token := range text {
		if token.Kind == sqltext.TokenString {
			t.args = append(t.args, token.Text)
		}
	}
}
