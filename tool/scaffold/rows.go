package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
	"github.com/habeas-data/habeas/tool/names"
)

// decideRows decides for each table whether an erasure deletes its rows. An erasure deletes rows that belong only to
// the person and that no remaining row refers to.
func (d *draft) decideRows() {
	for _, t := range d.byDistance() {
		t.rowsDeleted, t.reason = d.wantsDeletion(t)
	}
	for _, t := range d.tables {
		if t.distance != unreachable && (t.rowsDeleted || t.mayBePersonal()) {
			t.need()
		}
	}
	for changed := true; changed; {
		changed = false
		for _, t := range d.tables {
			if t.rowsDeleted && len(t.paths) == 1 && t.paths[0].to != d.subject && !t.paths[0].to.rowsDeleted {
				t.rowsDeleted, t.reason, changed = false, "The rows stay, because the rows of "+t.paths[0].to.Name+" stay.", true
			}
			if t.rowsDeleted {
				if r := t.blocker(); r != nil {
					t.rowsDeleted, changed = false, true
					t.reason = "The rows stay, because rows of " + r.from.Name + " refer to them by " + r.label() + "."
				}
			}
			if t.reversed && t.paths[0].to.rowsDeleted {
				t.paths[0].to.rowsDeleted, changed = false, true
				t.paths[0].to.reason = "The rows stay, because the rows of " + t.Name + " are found through them."
			}
		}
	}
	for _, t := range d.tables {
		if t.rowsDeleted && !t.isLink() && !d.isOwn(t) && t.paths[0].to == d.subject {
			t.ask("", "Does all data of a row belong to the person?", "delete the rows", "keep the rows and overwrite the "+
				"personal columns")
		}
	}
}

// mayBePersonal reports whether a column of the table looks personal or has the type JSON.
func (t *table) mayBePersonal() bool {
	return len(t.found) > 0 ||
		slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool { return c.Type == datamap.TypeJSON })
}

// need records that the data map may need the table, and all tables through which the table refers to the subject.
func (t *table) need() {
	if t.needed {
		return
	}
	t.needed = true
	for _, r := range t.paths {
		r.to.need()
	}
}

// byDistance returns the tables from which a chain of references leads to the subject's table, the shortest chain
// first.
func (d *draft) byDistance() []*table {
	near := slices.DeleteFunc(slices.Clone(d.tables), func(t *table) bool { return t.distance == unreachable })
	slices.SortStableFunc(near, func(a, b *table) int { return a.distance - b.distance })
	return near
}

// wantsDeletion reports whether an erasure should delete the rows of a table if no other table prevents the deletion.
// It returns the reason as a sentence.
func (d *draft) wantsDeletion(t *table) (rowsDeleted bool, reason string) {
	duty, hasDuty := names.FindDuty(t.Name)
	other := d.otherParent(t)
	switch {
	case t.reversed:
		return false, "The rows stay, because rows of " + t.paths[0].to.Name + " refer to them."
	case t == d.subject:
		return false, "The table of the people. The row stays without personal data, because other rows refer to it."
	case hasDuty:
		return false, "The rows stay, because " + duty.Reason + "."
	case len(t.vias()) > 1 && len(t.paths) == 1:
		return false, "The rows stay, because they refer to rows about several people."
	case len(t.paths) > 1 && !t.isLink():
		return false, "The rows stay, because they are about several people."
	case len(t.paths) == 1 && t.paths[0].to != d.subject:
		to := t.paths[0].to
		if t.paths[0].setsNull {
			return false, "The rows stay, because the database clears the reference to " + to.Name + "."
		}
		if !to.rowsDeleted {
			return false, "The rows stay, because the rows of " + to.Name + " stay."
		}
		return true, "The rows are deleted with the rows of " + to.Name + ", to which they belong."
	case t.isLink():
		return true, "The rows are deleted, because they hold little except references."
	case t.paths[0].role == names.Maker:
		return false, "The rows stay, because the person worked on them but need not own them."
	case d.isOwn(t):
		return true, "The rows are deleted, because the table's name suggests that they belong to the person."
	case other != nil:
		return false, "The rows stay, because they are part of " + other.to.Name + ", which may belong to another person."
	case len(t.found) > 0:
		return true, "The rows are deleted, because they refer to one person only."
	default:
		return false, "The rows stay, because nothing shows that they belong only to the person."
	}
}

// otherParent returns a reference from t to a table that is neither t nor the subject's table. The referenced table has
// a path, but no path of t begins with the reference. Through the reference, a row may also belong to another person.
// otherParent returns nil if t has no such reference.
func (d *draft) otherParent(t *table) *reference {
	for _, r := range t.out {
		if r.to != t && r.to != d.subject && r.to.distance != unreachable && !slices.Contains(t.paths, r) {
			return r
		}
	}
	return nil
}

// isLink reports whether the rows only link other rows. They hold at least two references, and otherwise only a key and
// instants. If the name of the table suggests a link, such as memberships or likes, they may also hold other columns
// that do not look personal.
func (t *table) isLink() bool {
	if len(t.out) < 2 || len(t.paths) == 0 || t.distance > 1 {
		return false
	}
	named := names.Is(t.Name, names.Links) || t.isNamedAfter()
	return !slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		_, personal := t.found[c.Name]
		switch {
		case t.refers(c.Name), c.Type == datamap.TypeTime:
			return false
		case slices.Contains(t.key, c.Name):
			return family(c.Type) == datamap.TypeText && len(t.key) == 1 && !named // the key may be data, such as a file name
		default:
			return personal || !named || c.Type == datamap.TypeJSON
		}
	})
}

// isNamedAfter reports whether the name of a table combines the names of two tables that it refers to. An example is
// team_user.
func (t *table) isNamedAfter() bool {
	parts := 0
	for _, r := range t.out {
		if strings.Contains(flat(names.BaseName(t.Name)), flat(words.Singular(names.BaseName(r.to.Name)))) {
			parts++
		}
	}
	return parts >= 2
}

// isOwn reports whether the name of a table suggests that each row belongs to one person. Examples are user_settings,
// sessions and addresses.
func (d *draft) isOwn(t *table) bool {
	if t.distance != 1 || len(t.paths) != 1 {
		return false
	}
	if names.Is(t.Name, names.Sessions) || names.Is(t.Name, names.Addresses) {
		return true
	}
	person := words.Singular(names.BaseName(d.subject.Name))
	rest, named := strings.CutPrefix(snakeCase(names.BaseName(t.Name)), snakeCase(person)+"_")
	return named && rest != "" && !names.Is(t.Name, names.Reference)
}

// snakeCase returns a name in snake case. For example, UserSettings gives user_settings.
func snakeCase(name string) string { return strings.Join(words.Lower(name), "_") }

// blocker returns a reference to t for which allowsDeletion is false, or nil if there is none.
func (t *table) blocker() *reference {
	i := slices.IndexFunc(t.in, func(r *reference) bool { return !r.allowsDeletion(t) })
	if i < 0 {
		return nil
	}
	return t.in[i]
}

// allowsDeletion reports whether an erasure can delete the rows of the table t although the reference refers to them.
// It can in two cases:
//
//   - The erasure deletes the referring rows first.
//   - The reference has ON DELETE SET NULL, each of its columns accepts NULL, and no column is in the key of the
//     referring table or in a reference that begins a path.
func (r *reference) allowsDeletion(t *table) bool {
	if r.from.rowsDeleted && len(t.paths) == 1 && len(r.from.paths) == 1 && r.from.paths[0] == r {
		return true
	}
	return r.setsNull && !slices.ContainsFunc(r.columns, func(name string) bool {
		column, ok := r.from.Column(name)
		return !ok || !column.Nullable || slices.Contains(r.from.key, name) || r.from.needed &&
			slices.ContainsFunc(r.from.paths, func(path *reference) bool { return slices.Contains(path.columns, name) })
	})
}
