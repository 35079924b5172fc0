package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// findTwins finds the tables with a key of their own and exactly one row for each person, such as app_users (uid,
// user_uuid) beside users. Other tables may mean a person by that key.
func (d *draft) findTwins() {
	for _, t := range d.tables {
		if len(t.key) == 1 && slices.ContainsFunc(t.out, func(r *reference) bool {
			return r.to == d.subject && !r.doubtful && !r.nullable() && r.isUnique() && !slices.Contains(r.columns, t.key[0])
		}) {
			d.twins = append(d.twins, t)
		}
	}
}

// twinOf returns the table of findTwins that a column without a foreign key may refer to: the column has the name of
// its key, such as uid, or the name of a role and the type of its key, such as owner_uid and created_by. It returns nil
// if there is none.
func (d *draft) twinOf(t *table, c datamap.CatalogColumn) *table {
	i := slices.IndexFunc(d.twins, func(twin *table) bool {
		key, _ := twin.Column(twin.key[0])
		return twin != t && family(key.Type) == family(c.Type) && (d.hasKeyOf(twin, c) || d.hasRoleIn(twin, c))
	})
	if i < 0 || t == d.subject || t.refers(c.Name) || t.hasType(c.Name) || slices.Equal(t.key, []string{c.Name}) {
		return nil
	}
	return d.twins[i]
}

// hasKeyOf reports whether a column has the name of the key of a table, which is the key of no other table.
func (d *draft) hasKeyOf(twin *table, c datamap.CatalogColumn) bool {
	key := flat(twin.key[0])
	return flat(c.Name) == key && !slices.Contains(vagueKeys, key) &&
		!slices.ContainsFunc(d.tables, func(other *table) bool {
			return other != twin && len(other.key) == 1 && flat(other.key[0]) == key
		})
}

// hasRoleIn reports whether a column has the name of a role of a person who can only be in the given table, because the
// key of the subject's table has another type. A text may be a name.
func (d *draft) hasRoleIn(twin *table, c datamap.CatalogColumn) bool {
	stem, _ := names.Stem(c.Name)
	return c.Type != datamap.TypeText && names.IsRole(stem) && names.IsPeople(twin.base) && !d.hasTypeOfKey(c)
}

// isOfOnly reports whether the database deletes each row with the only row of a person in another table of the data
// map.
func (t *table) isOfOnly() bool { return t.parent().isOnly() && t.paths[0].owns() }

// namesTwin reports whether a column of the table may refer to a table of findTwins.
func (d *draft) namesTwin(t *table) bool {
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool { return d.twinOf(t, c) != nil })
}
