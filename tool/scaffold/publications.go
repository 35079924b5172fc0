package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isPublication reports whether each row seems to be a text that the application publishes, such as a post of its blog:
// the name of the table says so, and a row has a time of publication, and an address that is unique in the application
// and not only among the texts of one person. A community may publish the posts of its members, which are theirs.
func (t *table) isPublication() bool {
	isOfApplication := slices.ContainsFunc(names.Words(t.base), func(word string) bool {
		return slices.Contains([]string{"blog", "news", "press", "magazine", "newsroom", "editorial", "help", "faq"}, word)
	})
	hasTime := slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		parts := names.Words(c.Name)
		return len(parts) > 0 && parts[0] == "published" && (c.Type == datamap.TypeTime || c.Type == datamap.TypeBoolean)
	})
	return isOfApplication && hasTime && slices.ContainsFunc(t.Uniques, func(u datamap.CatalogUnique) bool {
		return len(u.Columns) == 1 && slices.Contains([]string{"slug", "permalink", "path", "url"}, flat(u.Columns[0]))
	})
}
