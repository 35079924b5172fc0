package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// askForTypes asks about polymorphic references: a column such as owner_id, next to a column that names the referenced
// table: see kindOf. The column must have the type of a key of the person. It must not be named after a table of
// things. A table without personal values whose name the reference repeats, as surveyable_id does in surveys, has the
// parts of a thing.
func (d *draft) askForTypes(t *table) {
	isKey := func(c datamap.CatalogColumn) bool {
		return slices.ContainsFunc(d.subject.key, func(name string) bool {
			key, _ := d.subject.Column(name)
			return family(key.Type) == family(c.Type)
		})
	}
	for _, c := range t.Columns {
		stem, ok := names.Stem(c.Name)
		isPart := len(t.found) == 0 && flat(stem) == flat(names.Singular(t.base))+"able"
		kind, isKind := t.kindOf(c.Name)
		isAsked := slices.ContainsFunc(t.asked, func(asked Decision) bool { return asked.Column == c.Name })
		isThing := names.MeansThing(stem) || !names.IsPeople(stem) && !names.IsRole(stem) &&
			slices.ContainsFunc(d.tables, func(other *table) bool { return names.Same(stem, other.base) })
		if ok && isKind && !isPart && !isAsked && !isThing && isKey(c) && !t.refers(c.Name) {
			t.ask(c.Name, ofType+kind+mayBePerson, "no", "yes: add a relation with when and path")
		}
	}
}
