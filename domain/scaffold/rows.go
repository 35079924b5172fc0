package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/names"
)

// decideRows decides which tables lose their rows with the person: those whose rows are wholly the person's, unless
// something that stays refers to them.
func (d *draft) decideRows() {
	for _, t := range d.byDistance() {
		t.goes, t.why = d.wants(t)
	}
	for changed := true; changed; {
		changed = false
		for _, t := range d.tables {
			if t.goes && len(t.paths) == 1 && t.paths[0].to != d.subject && !t.paths[0].to.goes {
				t.goes, t.why, changed = false, "The rows stay, because those of "+t.paths[0].to.Name+" stay.", true
			}
			if t.goes {
				if r := t.keptBy(); r != nil {
					t.goes, changed = false, true
					t.why = "The rows stay, because rows of " + r.from.Name + " refer to them by " + r.label() + "."
				}
			}
		}
	}
	for _, t := range d.tables {
		if t.goes && !t.isLink() && !d.isOwn(t) && t.paths[0].to == d.subject {
			t.ask("", "Is the whole row the person's, so that it is deleted?", "delete the rows", "keep the rows and overwrite "+
				"the personal columns")
		}
	}
}

// byDistance returns the tables that reach the subject's, the nearest first.
func (d *draft) byDistance() []*table {
	near := slices.DeleteFunc(slices.Clone(d.tables), func(t *table) bool { return t.far == unreachable })
	slices.SortStableFunc(near, func(a, b *table) int { return a.far - b.far })
	return near
}

// wants says whether the rows of a table are wholly the person's, and why.
func (d *draft) wants(t *table) (goes bool, why string) {
	duty, hasDuty := names.FindDuty(t.Name)
	other := d.elsewhere(t)
	switch {
	case len(t.paths) > 0 && t.paths[0].turned:
		return false, "The rows stay, because rows of " + t.paths[0].to.Name + " refer to them."
	case t == d.subject:
		return false, "The table of the people. The row stays, without personal data, because other rows refer to it."
	case hasDuty:
		return false, "The rows stay: " + duty.Reason + "."
	case len(t.vias()) > 1 && len(t.paths) == 1:
		return false, "The rows stay, because they hang on rows about several people."
	case len(t.paths) > 1 && !t.isLink():
		return false, "The rows stay, because they are about several people."
	case len(t.paths) == 1 && t.paths[0].to != d.subject:
		to := t.paths[0].to
		if !to.goes {
			return false, "The rows stay, because those of " + to.Name + " stay."
		}
		return true, "The rows go with those of " + to.Name + ", on which they hang."
	case t.isLink():
		return true, "The rows go: they hold little but references."
	case t.paths[0].role == names.Maker:
		return false, "The rows stay, because the person has worked on them, and they need not be the person's."
	case d.isOwn(t):
		return true, "The rows go: by the name of the table, they are the person's."
	case other != nil:
		return false, "The rows stay, because they are part of " + other.to.Name + ", which may be another person's."
	case len(t.found) > 0:
		return true, "The rows go: they refer to one person, and to nothing of another."
	default:
		return false, "The rows stay, because nothing says that they are wholly the person's."
	}
}

// elsewhere returns a reference that puts the row into something that may be another person's.
func (d *draft) elsewhere(t *table) *reference {
	for _, r := range t.out {
		if r.to != t && r.to != d.subject && r.to.far != unreachable && !slices.Contains(t.paths, r) {
			return r
		}
	}
	return nil
}

// isLink reports whether the rows hold nothing but a key, at least two references to other rows, and instants. A table
// that is named like a link (memberships, likes) may have columns of other types as well, but no free text.
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
			return family(c.Type) == domain.TypeText && len(t.key) == 1 && !named // it may name something outside
		case c.Type == domain.TypeText && len(c.Values) == 0 && !names.IsState(c.Name), c.Type == domain.TypeJSON:
			return true
		default:
			return personal || !named
		}
	})
}

// isNamedAfter reports whether the name of a table is made of those of two tables that it refers to: team_user.
func (t *table) isNamedAfter() bool {
	parts := 0
	for _, r := range t.out {
		if strings.Contains(flat(names.BaseName(t.Name)), flat(names.Singular(names.BaseName(r.to.Name)))) {
			parts++
		}
	}
	return parts >= 2
}

// isOwn reports whether the name of a table says that its rows are one person's: user_settings, sessions, addresses.
func (d *draft) isOwn(t *table) bool {
	if t.far != 1 || len(t.paths) != 1 {
		return false
	}
	if names.Is(t.Name, names.Sessions) || names.Is(t.Name, names.Addresses) {
		return true
	}
	person := names.Singular(names.BaseName(d.subject.Name))
	rest, named := strings.CutPrefix(strings.ToLower(names.BaseName(t.Name)), strings.ToLower(person)+"_")
	return named && rest != "" && !names.Is(t.Name, names.Reference)
}

// keptBy returns a reference for which the rows of a table cannot be deleted, or nil.
func (t *table) keptBy() *reference {
	i := slices.IndexFunc(t.in, func(r *reference) bool { return !r.allowsDeletion(t) })
	if i < 0 {
		return nil
	}
	return t.in[i]
}

// allowsDeletion reports whether rows that a reference leads to can be deleted: because the referring rows are deleted
// before, or because the database clears the reference.
func (r *reference) allowsDeletion(t *table) bool {
	if r.from.goes && len(t.paths) == 1 && len(r.from.paths) == 1 && r.from.paths[0] == r {
		return true
	}
	return r.setsNull && !slices.ContainsFunc(r.columns, func(name string) bool {
		column, ok := r.from.Column(name)
		return !ok || !column.Nullable || slices.Contains(r.from.key, name) ||
			slices.ContainsFunc(r.from.paths, func(path *reference) bool { return slices.Contains(path.columns, name) })
	})
}
