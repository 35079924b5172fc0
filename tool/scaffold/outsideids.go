package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// mayBeOutside reports whether a text column with the name of a reference may hold the id of the person in another
// system, such as legacy_id: it refers to no table, and its name means none. In the table of the people, a kind beside
// the id is that of the system, as vcs_type is beside vcs_id.
func (d *draft) mayBeOutside(t *table, c datamap.CatalogColumn) bool {
	stem, isReference := names.Stem(c.Name)
	parts := names.Words(stem)
	refersByType := t.hasType(c.Name) && !t.isSubject
	if !isReference || len(parts) == 0 || c.Type != datamap.TypeText || refersByType || names.IsRole(stem) ||
		names.MeansThing(stem) || names.MeansRelative(c.Name) ||
		slices.Contains(ofMachines, parts[len(parts)-1]) && (!t.isSubject || parts[len(parts)-1] != "session") {
		return false
	}
	return !slices.ContainsFunc(d.tables, func(other *table) bool { return names.EndsIn(stem, other.base) })
}

// ofMachines are the last words of the stems of ids that a machine gives to an event or a thing, or to the row itself.
var ofMachines = strings.Fields(`
	request trace span correlation job task process batch run build commit message event transaction idempotency
	parent root thread object resource record entity row item file blob image avatar photo template theme model session
	short public unique display nano sequence`)
