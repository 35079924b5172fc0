package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
	"github.com/habeas-data/habeas/tool/names"
)

// isUse reports whether each row tells how one person uses another row, such as how far she has read a story: an
// instant such as last_viewed shows this. The table does not hold messages, and its rows have neither a name nor a
// secret.
func (t *table) isUse() bool {
	if names.Is(t.Name, names.Messages) || t.hasWord(ofNames) || len(t.owners()) < 2 {
		return false
	}
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		parts := words.Lower(c.Name)
		if n := len(parts); n == 3 && parts[2] == "at" {
			parts = parts[:2]
		}
		return c.Type == datamap.TypeTime && len(parts) == 2 && parts[0] == "last" && slices.Contains(ofUse, parts[1])
	})
}

// ofNames are words for the name or the secret of a thing.
var ofNames = []string{"name", "title", "slug", "label", "description", "secret", "token", "key"}

// ofUse are participles of verbs for the use of a thing by one person.
var ofUse = []string{"viewed", "read", "watched", "played", "listened", "opened", "visited"}
