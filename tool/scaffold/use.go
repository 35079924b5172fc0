package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isUse reports whether each row tells how one person uses another row, such as how far she has read a story: an
// instant such as last_viewed shows this. The table does not hold messages, and its rows hold no texts and documents
// besides fixed values, because a text may be the thing that the person uses.
func (t *table) isUse() bool {
	if names.Is(t.Name, names.Messages) || len(t.owners()) < 2 || slices.ContainsFunc(t.Columns, t.mayBeContent) {
		return false
	}
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		parts := names.Words(c.Name)
		if n := len(parts); n == 3 && parts[2] == "at" {
			parts = parts[:2]
		}
		return c.Type == datamap.TypeTime && len(parts) == 2 && parts[0] == "last" && slices.Contains(ofUse, parts[1])
	})
}

// mayBeContent reports whether a column may hold the name or the content of a thing.
func (t *table) mayBeContent(c datamap.CatalogColumn) bool {
	switch c.Type { //nolint:exhaustive // the other types hold neither texts nor documents
	case datamap.TypeText, datamap.TypeJSON, datamap.TypeBytes, datamap.TypeArray, "":
		return !isFixed(c) && !t.IsChoice(c) && !names.IsFlag(c) && !t.refers(c.Name) && !slices.Contains(t.key, c.Name)
	}
	return false
}

// ofUse are participles of verbs for the use of a thing by one person.
var ofUse = []string{"viewed", "read", "watched", "played", "listened", "opened", "visited"}
