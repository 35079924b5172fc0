package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isOnlyThing reports whether the rows of a table that is left out seem to be things of the application: no reference
// leads from them to a person, except to one who made or changed them, or the name of the table means things.
func (t *table) isOnlyThing() bool {
	switch to := t.parent(); {
	case t.fate != left, t.isSubject, names.IsPeople(t.Name):
		return false
	case to == nil:
		return true
	case to.isSubject:
		return !t.isHeld() || names.Is(t.Name, names.Things)
	default:
		return to.isOnlyThing()
	}
}

// isPartOfThing reports whether only a thing leads from the rows to a person, and the rows are things themselves: they
// look personal only by a name that things have, too. The owner of the thing, if any, does not own such rows.
func (t *table) isPartOfThing() bool {
	personal := t.personal()
	return len(personal) > 0 && !names.Is(t.Name, names.Messages) && !t.parent().isSubject && t.parent().isOnlyThing() &&
		!slices.ContainsFunc(t.out, func(r *reference) bool { return r.to.isSubject }) &&
		!slices.ContainsFunc(personal, func(name string) bool {
			return !slices.Contains([]string{"display name", "alias name"}, t.found[name].Word)
		})
}

// linksThings reports whether the rows hold nothing except references to things, and instants.
func (t *table) linksThings() bool {
	return len(t.out) > 1 &&
		!slices.ContainsFunc(t.out, func(r *reference) bool { return !r.to.isOnlyThing() }) &&
		!slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
			return !t.refers(c.Name) && c.Type != datamap.TypeTime
		})
}
