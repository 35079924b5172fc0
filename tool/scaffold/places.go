package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// askForPlace asks whether an erasure must overwrite the location in a row that stays, if rows of other people refer to
// the row, such as the comments on a place. It reports whether the proposal leaves the value. The equal questions about
// the columns of a location become one, see folded.
func (t *table) askForPlace(c datamap.CatalogColumn, m names.Match) bool {
	if m.Category != domain.CategoryLocation || t.isSubject {
		return false
	}
	i := slices.IndexFunc(t.in, func(r *reference) bool {
		return r.from != t && slices.ContainsFunc(r.from.out, func(other *reference) bool { return other.to.isSubject })
	})
	if i < 0 {
		return false
	}
	t.ask(c.Name, "Rows of "+t.in[i].from.Name+", which other people may have added, refer to this location. Must an "+
		"erasure overwrite it?", leaveIt, "overwrite it")
	return true
}

// repeatsPlace reports whether the name of a column suggests that it repeats the location in other columns of the row,
// such as a tile of a map.
func (t *table) repeatsPlace(c datamap.CatalogColumn) bool {
	name := "_" + strings.ToLower(c.Name)
	isPlace := strings.Contains(name, "_h3") || strings.Contains(name, "_s2") ||
		slices.ContainsFunc(names.Words(c.Name), func(word string) bool { return slices.Contains(places, word) })
	return isPlace && c.Type != datamap.TypeTime && c.Type != datamap.TypeBoolean &&
		slices.ContainsFunc(t.Columns, func(other datamap.CatalogColumn) bool {
			m, ok := t.found[other.Name]
			return ok && m.Category == domain.CategoryLocation
		})
}

var places = []string{
	"tile", "geohash", "quadkey", "geom", "geometry", "geog", "geography", "location", "point",
	"coordinates", "pluscode", "olc", "place",
}

// mayBeOfAddress reports whether a column may be a part of the postal address in other columns of the row, as state is
// beside street and zip. It may as well be the state of the row itself.
func (t *table) mayBeOfAddress(c datamap.CatalogColumn) bool {
	parts := names.Words(c.Name)
	n := len(parts)
	isNamed := n > 0 && slices.Contains(ofRegions, parts[n-1]) && !names.IsStatus(c.Name) ||
		n > 1 && (parts[n-1] == "code" || parts[n-1] == "name") && slices.Contains(ofRegions, parts[n-2])
	isText := c.Type == datamap.TypeText && !names.IsFlag(c) && !t.IsChoice(c)
	return isNamed && isText && slices.ContainsFunc(t.Columns, func(other datamap.CatalogColumn) bool {
		m, ok := t.found[other.Name]
		return ok && m.Means == names.Address && other.Name != c.Name
	})
}

var ofRegions = strings.Fields("state country region province county city town district")
