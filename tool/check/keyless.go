package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// withKey returns a remedy for a finding about a table. If the table is outside the data map and has no key by which an
// erasure can find its rows, the data map cannot have it as it is. A remedy that adds it then also names the key.
func (s *schema) withKey(table, remedy string) string {
	live, exists := s.catalog.Table(table)
	if _, mapped := s.mapped[live.Name]; !exists || mapped || !isTable(live) || hasKey(live) {
		return remedy
	}
	complete := strings.NewReplacer(
		"Add the table to the data map", "Give the table a primary key, and add it to the data map",
		"add the table to the data map", "give the table a primary key, and add it to the data map",
	).Replace(remedy)
	if complete != remedy && !strings.Contains(remedy, "accept the finding") {
		complete += " If it must have no primary key, accept the finding."
	}
	return complete
}

// hasKey reports whether a primary key or a unique constraint distinguishes the rows of a table.
func hasKey(live datamap.CatalogTable) bool {
	return len(live.PrimaryKey) > 0 || slices.ContainsFunc(live.Uniques, func(u datamap.CatalogUnique) bool {
		return distinguishesRows(live, u.Columns)
	})
}

// isPureLink reports whether the rows of a table hold nothing except references to other rows, and their own key. A
// reference by a value such as an address does not count.
func (s *schema) isPureLink(table datamap.CatalogTable) bool {
	values := table
	values.ForeignKeys = nil
	return s.personalSentence(values) == "" && !slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
		isNumber := family(c.Type) == datamap.TypeNumber || c.Type == datamap.TypeUUID
		return !inForeignKey(table, c.Name) && (!isNumber || !hasName(table, table.PrimaryKey, c.Name))
	})
}
