package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
)

// isPublication reports whether each row seems to be a text that the application publishes, such as a post of its blog:
// it has a time of publication, and an address that is unique in the application and not only among the texts of one
// person.
func (t *table) isPublication() bool {
	hasTime := slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		parts := words.Lower(c.Name)
		return len(parts) > 0 && parts[0] == "published" && (c.Type == datamap.TypeTime || c.Type == datamap.TypeBoolean)
	})
	return hasTime && slices.ContainsFunc(t.Uniques, func(u datamap.CatalogUnique) bool {
		return len(u.Columns) == 1 && slices.Contains([]string{"slug", "permalink", "path", "url"}, flat(u.Columns[0]))
	})
}
