// Package triggers reads the code of a trigger: which columns the trigger sets in its own row, and what it does with
// the statement that fires it and with other rows.
package triggers

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// Assignment is a column that a trigger sets in its own row.
type Assignment struct {
	Column string
	Reads  []string // the columns that the value is made of; "*" means the complete row
	Old    bool     // the value is made of the row before the statement
	// Selects are the names of the tables and columns that queries in the value select, in lower case.
	Selects []string
	// Follows are columns of the table. Each UPDATE that changes one of them sets Column to a new value, which is not made
	// of the old row.
	Follows []string
}

// trigger is a trigger or a rule of a table, with the parts of the statement that creates it.
type trigger struct {
	datamap.CatalogTrigger
	table datamap.CatalogTable
	early bool             // BEFORE ... FOR EACH ROW: the code can change or skip the row
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

// Effects are what the code of a trigger does. The code of called database functions does not count.
type Effects struct {
	// Sets are the columns of the trigger's own row that it sets to a value made of this row.
	Sets []Assignment
	// Renews are the columns of the trigger's own row that it sets to a value which is not made of the row before the
	// statement, such as the time of the last change.
	Renews []string
	// Unlinks is the column whose large objects the trigger deletes with lo_manage, or "".
	Unlinks string
	// Refuses is VerdictHolds if the trigger refuses each statement that fires it, and VerdictUndecided if it refuses some
	// of them, or may do so.
	Refuses datamap.Verdict
	// RefusesTexts are columns with a text that the trigger refuses in them, whatever the other columns hold.
	RefusesTexts map[string]string
	// RefusesChanges are the columns whose values the trigger does not let change.
	RefusesChanges []string
	// Skips is the same for a trigger that skips the row, so that the statement does not change or delete it.
	Skips datamap.Verdict
	// Constant are the tables to which the trigger writes nothing but constants, by their names in the code.
	Constant []string
	// Inserts are values of its own row that the trigger inserts into new rows of other tables.
	Inserts []Insert
	// Keeps are old values of its own row that the trigger writes into rows of other tables by UPDATE.
	Keeps []Insert
	// Changes are the tables whose rows the trigger updates, by their names in the code.
	Changes []string
	// Tied are the tables from which the trigger deletes rows, by their names in the code, each with the columns that
	// the condition of each deletion compares with columns of the trigger's row. It is nil if the code calls a procedure,
	// which may delete other rows.
	Tied map[string][]Tie
}

// Tie is a column of deleted rows that equals a column of the trigger's row.
type Tie struct {
	Column string
	Row    string // the column of OLD
}

// Read returns the effects of a trigger of the table.
func Read(table datamap.CatalogTable, of datamap.CatalogTrigger) Effects {
	quotes := sqltext.QuotesOfPostgres
	if table.FoldsCase {
		quotes = sqltext.QuotesOfSQLite
	}
	definition := sqltext.TokensOf(of.Definition, quotes)
	t := trigger{CatalogTrigger: of, table: table}
	t.readHeader(definition)
	switch isSearch := t.calls == searcher || t.calls == searcherOfIt; {
	case of.Language == "":
		return t.effects(definition.Body())
	case of.Language == "sql", of.Language == "plpgsql":
		return t.effects(sqltext.TokensOf(of.Code, quotes).Body())
	case of.Language == "c" && t.calls == unlinker && len(t.args) > 0:
		return Effects{Unlinks: t.args[0]}
	case of.Language == "internal" && isSearch && len(t.args) > 2:
		return Effects{Sets: []Assignment{{Column: t.args[0], Reads: t.args[2:], Follows: t.follows(nil, 0, nil)}}}
	}
	return Effects{}
}

// readHeader reads the columns, the condition, and the database function of a trigger or rule from the statement that
// creates it, such as CREATE TRIGGER name BEFORE UPDATE OF column ON table WHEN condition EXECUTE FUNCTION name.
func (t *trigger) readHeader(definition sqltext.Tokens) {
	text := definition.Until(0, "begin", "execute", "do")
	t.readCall(definition[len(text):])
	i := text.AfterCreate("trigger")
	t.early = text.Is(i, "before") && slices.ContainsFunc(text, func(token sqltext.Token) bool {
		return strings.EqualFold(token.Text, "row")
	})
	for ; i < len(text); i++ {
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
