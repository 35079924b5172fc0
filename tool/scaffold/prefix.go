package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// minPrefixed is the least number of tables from which sharedPrefix concludes something.
const minPrefixed = 5

// sharedPrefix returns the prefix with which an application marks the names of its tables, such as crm_ in crm_users
// and crm_notes: at least four fifths of all tables begin with it. It returns "" if there is none, or if the prefix is
// also the name of a table or a word for people, as in user_settings.
func sharedPrefix(tables []datamap.CatalogTable) string {
	counts := map[string]int{}
	for _, t := range tables {
		if first, rest, ok := strings.Cut(names.BaseName(t.Name), "_"); ok && first != "" && rest != "" {
			counts[first]++
		}
	}
	for first, n := range counts {
		isTable := slices.ContainsFunc(tables, func(t datamap.CatalogTable) bool {
			return names.Same(names.BaseName(t.Name), first)
		})
		if n >= minPrefixed && 5*n >= 4*len(tables) && !isTable && !names.IsPeople(first) {
			return first + "_"
		}
	}
	return ""
}

// isMeantBy reports whether the stem of a reference is the name of the table, with or without the prefix of all tables.
func (t *table) isMeantBy(stem string) bool {
	return names.Same(stem, t.base) || names.Same(stem, names.BaseName(t.Name))
}
