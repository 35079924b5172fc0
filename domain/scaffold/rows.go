package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/names"
	"github.com/habeas-data/habeas/internal/words"
)

// decideRows decides which tables lose their rows in an erasure. A table loses its rows if they belong only to the
// person, unless rows that stay refer to them.
func (d *draft) decideRows() {
	for _, t := range d.byDistance() {
		t.goes, t.why = d.wants(t)
	}
	for _, t := range d.tables {
		if t.far != unreachable && (t.goes || t.mayBePersonal()) {
			t.need()
		}
	}
	for changed := true; changed; {
		changed = false
		for _, t := range d.tables {
			if t.goes && len(t.paths) == 1 && t.paths[0].to != d.subject && !t.paths[0].to.goes {
				t.goes, t.why, changed = false, "The rows stay, because the rows of "+t.paths[0].to.Name+" stay.", true
			}
			if t.goes {
				if r := t.keptBy(); r != nil {
					t.goes, changed = false, true
					t.why = "The rows stay, because rows of " + r.from.Name + " refer to them by " + r.label() + "."
				}
			}
			if t.turned && t.paths[0].to.goes {
				t.paths[0].to.goes, changed = false, true
				t.paths[0].to.why = "The rows stay, because the rows of " + t.Name + " are found through them."
			}
		}
	}
	for _, t := range d.tables {
		if t.goes && !t.isLink() && !d.isOwn(t) && t.paths[0].to == d.subject {
			t.ask("", "Does all data of a row belong to the person?", "delete the rows", "keep the rows and overwrite the "+
				"personal columns")
		}
	}
}

// mayBePersonal reports whether a column of the table may be annotated.
func (t *table) mayBePersonal() bool {
	return len(t.found) > 0 ||
		slices.ContainsFunc(t.Columns, func(c domain.CatalogColumn) bool { return c.Type == domain.TypeJSON })
}

// need marks the table and the tables on its paths as needed by the data map.
func (t *table) need() {
	if t.needed {
		return
	}
	t.needed = true
	for _, r := range t.paths {
		r.to.need()
	}
}

// byDistance returns the tables that reach the subject's table, nearest first.
func (d *draft) byDistance() []*table {
	near := slices.DeleteFunc(slices.Clone(d.tables), func(t *table) bool { return t.far == unreachable })
	slices.SortStableFunc(near, func(a, b *table) int { return a.far - b.far })
	return near
}

// wants returns whether an erasure should delete the rows of a table, and the reason.
func (d *draft) wants(t *table) (goes bool, why string) {
	duty, hasDuty := names.FindDuty(t.Name)
	other := d.elsewhere(t)
	switch {
	case t.turned:
		return false, "The rows stay, because rows of " + t.paths[0].to.Name + " refer to them."
	case t == d.subject:
		return false, "The table of the people. The row stays without personal data, because other rows refer to it."
	case hasDuty:
		return false, "The rows stay, because " + duty.Reason + "."
	case len(t.vias()) > 1 && len(t.paths) == 1:
		return false, "The rows stay, because they belong to rows about several people."
	case len(t.paths) > 1 && !t.isLink():
		return false, "The rows stay, because they are about several people."
	case len(t.paths) == 1 && t.paths[0].to != d.subject:
		to := t.paths[0].to
		if t.paths[0].setsNull {
			return false, "The rows stay, because the database clears the reference to " + to.Name + "."
		}
		if !to.goes {
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

// elsewhere returns a reference to data that may belong to another person, or nil.
func (d *draft) elsewhere(t *table) *reference {
	for _, r := range t.out {
		if r.to != t && r.to != d.subject && r.to.far != unreachable && !slices.Contains(t.paths, r) {
			return r
		}
	}
	return nil
}

// isLink reports whether the rows hold only a key, at least two references to other rows, and instants. A table with
// the name of a link, such as memberships or likes, may also have other columns if they do not look personal.
func (t *table) isLink() bool {
	if len(t.out) < 2 || len(t.paths) == 0 || t.far > 1 {
		return false
	}
	named := names.Is(t.Name, names.Links) || t.isNamedAfter()
	return !slices.ContainsFunc(t.Columns, func(c domain.CatalogColumn) bool {
		_, personal := t.found[c.Name]
		switch {
		case t.refers(c.Name), c.Type == domain.TypeTime:
			return false
		case slices.Contains(t.key, c.Name):
			return family(c.Type) == domain.TypeText && len(t.key) == 1 && !named // it may name data outside
		default:
			return personal || !named || c.Type == domain.TypeJSON
		}
	})
}

// isNamedAfter reports whether the name of a table combines the names of two tables that it refers to, such as
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
	if t.far != 1 || len(t.paths) != 1 {
		return false
	}
	if names.Is(t.Name, names.Sessions) || names.Is(t.Name, names.Addresses) {
		return true
	}
	person := words.Singular(names.BaseName(d.subject.Name))
	rest, named := strings.CutPrefix(apart(names.BaseName(t.Name)), apart(person)+"_")
	return named && rest != "" && !names.Is(t.Name, names.Reference)
}

// apart returns a name with _ between its words, however they are told apart: user_settings of UserSettings.
func apart(name string) string { return strings.Join(domain.NameWords(name), "_") }

// keptBy returns a reference that prevents the deletion of the rows of a table, or nil.
func (t *table) keptBy() *reference {
	i := slices.IndexFunc(t.in, func(r *reference) bool { return !r.allowsDeletion(t) })
	if i < 0 {
		return nil
	}
	return t.in[i]
}

// allowsDeletion reports whether the rows that a reference leads to can be deleted. They can if an erasure deletes the
// referring rows earlier. They also can if the database sets the reference to NULL and the reference is not a path of
// the data map.
func (r *reference) allowsDeletion(t *table) bool {
	if r.from.goes && len(t.paths) == 1 && len(r.from.paths) == 1 && r.from.paths[0] == r {
		return true
	}
	return r.setsNull && !slices.ContainsFunc(r.columns, func(name string) bool {
		column, ok := r.from.Column(name)
		return !ok || !column.Nullable || slices.Contains(r.from.key, name) || r.from.needed &&
			slices.ContainsFunc(r.from.paths, func(path *reference) bool { return slices.Contains(path.columns, name) })
	})
}
