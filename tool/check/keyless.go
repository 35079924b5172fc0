package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// addTable returns the clause of a remedy that adds a table to the data map. The data map cannot have a table without a
// key by which an erasure finds its rows, so the clause for such a table also names the key.
func addTable(table datamap.CatalogTable) string {
	if lacksKey(table) {
		return "give the table a primary key, and add it to the data map"
	}
	return "add the table to the data map"
}

// orStayKeyless returns the sentence that ends a remedy with addTable and without another way to accept the finding. It
// returns "" if the table has a key.
func orStayKeyless(table datamap.CatalogTable) string {
	if lacksKey(table) {
		return " If it must have no primary key, accept the finding."
	}
	return ""
}

// capitalized returns a clause for the start of a sentence.
func capitalized(clause string) string { return strings.ToUpper(clause[:1]) + clause[1:] }

// lacksKey reports whether no key of a table distinguishes its rows. Objects such as views need none; see isTable.
func lacksKey(table datamap.CatalogTable) bool { return isTable(table) && !hasKey(table) }

// hasKey reports whether a primary key or a unique constraint distinguishes the rows of a table.
func hasKey(live datamap.CatalogTable) bool {
	return len(live.PrimaryKey) > 0 || slices.ContainsFunc(live.Uniques, func(u datamap.CatalogUnique) bool {
		return distinguishesRows(live, u.Columns)
	})
}
