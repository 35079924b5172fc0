package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isProfile reports whether each row describes one person: it is the only row of the person, or her account at a
// provider of identities.
func (t *table) isProfile() bool {
	switch {
	case len(t.paths) != 1:
		return false
	case names.Is(t.Name, names.Profiles), t.isAuthentication():
		return true
	}
	return names.IsPeople(t.Name) && (t.paths[0].isUnique() || t.hasProvider())
}

// isAuthentication reports whether each row is the account of a person at a provider of identities, by its number
// there, in a table named authentications. No other reference leads to a second owner, such as a team.
func (t *table) isAuthentication() bool {
	return names.Same(t.base, "authentication") && len(t.out) == 1 && !t.hasUnknownReference() &&
		slices.ContainsFunc(t.Columns, t.isNumberAtProvider)
}

// hasUnknownReference reports whether a column that is no text is named like a reference, such as team_id, but refers
// to no table of the schema.
func (t *table) hasUnknownReference() bool {
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		_, isReference := names.Stem(c.Name)
		return isReference && c.Type != datamap.TypeText && !t.refers(c.Name) && !slices.Contains(t.key, c.Name)
	})
}

// isExtension reports whether the table adds columns to that of the people, such as user_data: its name says so, and it
// has one row for each person, which leads to nobody else.
func (d *draft) isExtension(t *table) bool {
	parts := names.Words(t.base)
	last := len(parts) - 1
	if last < 1 || !slices.Contains(ofExtensions, parts[last]) || len(t.out) != 1 ||
		!d.isWordForPerson(strings.Join(parts[:last], " ")) {
		return false
	}
	r := t.out[0]
	stem, _ := names.Stem(r.label())
	return r.to == d.subject && r.isUnique() && !r.nullable() && d.isWordForPerson(stem) && !t.hasUnknownReference()
}

// ofExtensions are the last words of the names of tables with further columns of the people.
var ofExtensions = strings.Fields("data info information detail details extra extras attributes metadata billing")
