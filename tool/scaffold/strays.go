package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isNumberAtProvider reports whether a column holds the number of a person at a provider of identities, next to a
// column such as provider_id. In other tables, the same name means a key of the application.
func (t *table) isNumberAtProvider(c datamap.CatalogColumn) bool {
	isNumber := slices.Contains([]string{"accountid", "subjectid", "sub", "subject", "externalid", "uid"}, flat(c.Name))
	return t.hasProvider() && isNumber && family(c.Type) != ""
}

// isElsewhere reports whether a column of the subject's table seems to hold the id of the person in another system,
// such as acme_user_id: it is a text, or has another type than the key.
func (d *draft) isElsewhere(c datamap.CatalogColumn) bool {
	return d.mayBeElsewhere(c) && (c.Type == datamap.TypeText || !d.hasTypeOfKey(c))
}

// mayBeElsewhere reports whether a column of the subject's table is named like a reference to a person, but means
// neither another row of this table nor a row of another table.
func (d *draft) mayBeElsewhere(c datamap.CatalogColumn) bool {
	stem, isReference := names.Stem(c.Name)
	return isReference && len(names.Words(stem)) > 1 && names.IsPeople(stem) && !names.MeansRelative(c.Name) &&
		family(c.Type) != "" && !d.subject.refers(c.Name) && !d.subject.hasType(c.Name) &&
		!slices.Contains(d.subject.key, c.Name) && !slices.ContainsFunc(d.tables, func(other *table) bool {
		return other != d.subject && names.EndsIn(stem, other.base)
	})
}

// hasTypeOfKey reports whether a column can hold the key of a person.
func (d *draft) hasTypeOfKey(c datamap.CatalogColumn) bool {
	key, _ := d.subject.Column(d.subjectID[0])
	return len(d.subjectID) == 1 && family(key.Type) == family(c.Type)
}

// atProvider returns the guess about a column with the id of a person in another system.
func atProvider(c datamap.CatalogColumn) names.Match {
	return names.Match{
		Category: domain.CategoryTechnical, Word: strings.Join(names.Words(c.Name), " "),
		Means: names.Account,
	}
}

// mayHoldMore reports whether the rows of a table that is left out are parts of rows that refer to a person, and may
// hold more about her: anything if the table has the name of the people, else a text or a secret, unless the other rows
// are things.
func (t *table) mayHoldMore(d *draft) bool {
	to := t.parent()
	if to.parent() != d.subject || to.isDoubtful() || to.group || !to.isHeld() {
		return false
	}
	of, _, _ := strings.Cut(snakeCase(t.base), "_")
	isSecret := slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool { return t.found[c.Name].Secret })
	return of == snakeCase(names.Singular(d.subject.base)) ||
		!names.Is(to.Name, names.Things) && (t.paths[0].owns() || isPartOf(to, t)) && (isSecret || len(t.texts()) > 0)
}
