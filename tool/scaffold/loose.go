package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// minLoose is the least number of columns such as user_id from which isUsual and markLoose conclude something.
const minLoose = 4

// isUsual reports whether a column such as user_id can only mean the people of the subject's table, although this table
// has another name: many tables have the column, and no table without it seems to have people of its own. A word such
// as account is not sufficient: it may mean a company whose table is in another database.
func (d *draft) isUsual(c datamap.CatalogColumn) bool {
	stem, _ := names.Stem(c.Name)
	if flat(c.Name) != "uid" && !d.meansSubject(stem) && !d.hasNameOfKey(c) {
		return false
	}
	n := 0
	for _, t := range d.tables {
		if t == d.subject {
			continue
		}
		switch other, ok := t.Column(c.Name); {
		case ok && d.hasTypeOfKey(other) && !slices.Equal(t.key, []string{c.Name}):
			n++
		case t.hasPeople():
			return false
		}
	}
	return n >= minLoose
}

// hasPeople reports whether the rows of a table seem to be people: its name says so, or they have email addresses and
// passwords.
func (t *table) hasPeople() bool {
	found := summarize(t)
	return t.canBeMapped() &&
		(names.IsPeople(t.Name) || names.RoleOf(t.base) == names.Maker || found.email && found.password)
}

// markLoose marks the references to people that are guessed if NULL tells nothing in the schema: the application does
// not use foreign keys, and most of its columns such as user_id can be NULL, also in rows that always have a person.
func (d *draft) markLoose() {
	if d.usesKeys() {
		return
	}
	nullable, all := 0, 0
	for _, r := range d.subject.in {
		if r.guessed && r.role == names.Holder && r.from != d.subject {
			all++
			if r.nullable() {
				nullable++
			}
		}
	}
	if all < minLoose || 2*nullable < all {
		return
	}
	for _, r := range d.subject.in {
		r.loose = r.guessed
	}
}

// unknownParent returns a column that is named like a reference to a row of which the rows may be parts, although it
// leads to no known table, such as commentable_id or nid. It returns "" if there is none, or if the application uses
// foreign keys, so that they show the parents.
func (d *draft) unknownParent(t *table) string {
	if d.usesKeys() {
		return ""
	}
	i := slices.IndexFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		stem, isReference := names.Stem(c.Name)
		isKey := family(c.Type) != "" && (c.Type != datamap.TypeText || t.hasType(c.Name))
		return isReference && isKey && !t.refers(c.Name) && !slices.Contains(t.key, c.Name) && !names.IsRole(stem)
	})
	if i < 0 {
		return ""
	}
	return t.Columns[i].Name
}
