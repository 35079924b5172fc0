package triggers

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// Kept is a column of another table into which a trigger writes an old value.
type Kept struct{ Table, Column string }

// Keeps returns the columns of other tables into which a trigger surely writes the old value of a column whenever an
// UPDATE writes another value into that column: UPDATE other SET kept = OLD.column. The old value may be a part of the
// new text. Keeps returns nothing if the code is not known, or if it depends on anything else.
func Keeps(table datamap.CatalogTable, of datamap.CatalogTrigger, column string) (kept []Kept) {
	t := trigger{CatalogTrigger: of, table: table}
	t.readHeader(sqltext.TokensOf(of.Definition, sqltext.QuotesOfPostgres))
	at := change{table: table, column: column}
	if table.FoldsCase || of.Language != "plpgsql" || !slices.Contains(of.Events, "UPDATE") ||
		len(t.of) > 0 && !mentions(t.of, column) || at.enters(guard{conditions: t.when}) != yes {
		return nil
	}
	text := sqltext.TokensOf(of.Code, sqltext.QuotesOfPostgres).Body()
	for i := range text {
		name, sets := updateAt(text, i)
		for _, set := range sets {
			if containsOld(assigned(set), column) && at.runsAt(text, i) {
				kept = append(kept, Kept{name, set.NameAt(0)})
			}
		}
	}
	return kept
}

// containsOld reports whether a value contains the old value of a column as it is, and nothing of NEW.
func containsOld(value sqltext.Tokens, column string) bool {
	for i := range value {
		if value.Is(i, "new") || value.IsSign(i, "+", "*", "/", "%") {
			return false
		}
	}
	reads := contained(value)
	return slices.Contains(reads, "*") || containsFold(reads, column)
}
