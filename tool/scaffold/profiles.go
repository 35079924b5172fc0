package scaffold

import "github.com/habeas-data/habeas/tool/internal/names"

// isProfile reports whether each row describes one person: it is the only row of the person, or her account at a
// provider of identities.
func (t *table) isProfile() bool {
	if len(t.paths) != 1 || !names.IsPeople(t.Name) && !names.Is(t.Name, names.Profiles) {
		return false
	}
	return names.Is(t.Name, names.Profiles) || t.paths[0].isUnique() || t.hasProvider()
}

// isExtension reports whether the table adds columns to that of the people: it is named after it, such as user_data,
// and has one row for each person, which belongs to nobody else.
func (d *draft) isExtension(t *table) bool {
	return d.isNamedFor(t) && len(t.out) == 1 && len(t.paths) == 1 && t.paths[0].to == d.subject &&
		t.paths[0].isUnique() && !t.paths[0].nullable()
}
