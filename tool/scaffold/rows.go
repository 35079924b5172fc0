package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// decideRows decides what an erasure does with the rows of each table. It deletes rows that belong only to the person
// and that no remaining row refers to. Rows whose parents stay are left out, unless the caller includes them.
func (d *draft) decideRows() {
	for _, t := range d.byDistance() {
		t.own, t.goesAlong = d.isOwn(t), d.isDeclared(t) || t.isIncludedWhole()
		t.fate, t.reason = d.fateOf(t)
		d.withhold(t)
		t.rowsDeleted = t.fate == deleted
	}
	for changed := true; changed; {
		changed = false
		for _, t := range d.tables {
			to := t.parent()
			if t.rowsDeleted && to != d.subject && !to.rowsDeleted && !t.included {
				t.keep(d, "the rows of "+to.Name+" stay")
				changed = true
			}
			if r := t.ofThing(); t.rowsDeleted && r != nil {
				t.rowsDeleted, t.fate, t.present, changed = false, left, true, true
				t.reason = "The rows seem to be parts of rows of " + r.to.Name + ", which stay, because " + r.label() +
					" leads to them."
			}
			if r := t.blocker(); t.rowsDeleted && r != nil {
				t.keep(d, "rows of "+r.from.Name+" refer to them by "+r.label())
				changed = true
			}
			if name := d.firing(t, "DELETE"); t.rowsDeleted && !t.included && name != "" {
				t.keep(d, "the trigger "+name+" deletes further rows with them")
				changed = true
			}
			if name := d.firing(t, "UPDATE"); t.fate == overwritten && !t.isSubject && !t.included && name != "" {
				t.fate, changed = left, true
				t.reason = "The trigger " + name + " deletes rows of people when rows change."
			}
			if t.reversed && t.fate != left && to.rowsDeleted {
				to.keep(d, "the rows of "+t.Name+" are found through them")
				changed = true
			}
		}
	}
	d.dropLogins()
	for _, t := range d.tables {
		t.dropUnknownPeople()
		t.askForPayments()
		switch {
		case t.rowsDeleted && t.paths[0].to == d.subject && !t.isOnlyLogin() &&
			(!t.own || t.hasOtherPerson() || t.groupOf() != nil):
			t.ask("", onlyOfPerson, "delete the rows", "keep the rows", "leave the table out")
			t.askForSamePerson()
		case t.rowsDeleted:
			t.askForSamePerson()
			t.askForOthers()
			t.askForMembers()
		case t.fate == left && t != d.subject && t.distance != unreachable:
			t.askForLeft(d)
		case t != d.subject && t.included && !t.mapped && t.parent() != d.subject && t.parent().fate == left:
			t.ask("", "Its rows lead to a person only through rows of "+t.parent().Name+", on which other people may act. Are "+
				"they about no other person?", "yes", "no: leave the table out")
		}
	}
}

// dropUnknownPeople makes sure that an erasure deletes no row of another person only because a reference whose role is
// unknown leads to the erased person, as archiver_id does beside user_id.
func (t *table) dropUnknownPeople() {
	isHolder := func(r *reference) bool { return r.to.isSubject && r.role == names.Holder }
	if t.rowsDeleted && slices.ContainsFunc(t.paths, isHolder) {
		t.paths = slices.DeleteFunc(slices.Clone(t.paths), func(r *reference) bool {
			return r.to.isSubject && r.role == names.Other && !r.owns()
		})
	}
}

// firing returns a trigger that deletes rows, perhaps those of other people, when rows of the table are deleted or
// updated. It returns "" if there is none. Rows of a full-text index do not count, and neither do parts that an erasure
// deletes, too. At an update, only rows of the table itself, and rows that refer to people, count.
func (d *draft) firing(t *table, event string) string {
	for _, trigger := range t.Triggers {
		if slices.Contains(trigger.Events, event) && slices.ContainsFunc(trigger.Deletes, func(name string) bool {
			to := d.table(name)
			switch {
			case to == nil:
				return event == "DELETE"
			case to.Kind == datamap.KindVirtual, to.rowsDeleted && to != t && to.parent() == t:
				return false
			}
			return event == "DELETE" || to == t || d.refersToPerson(to)
		}) {
			return trigger.Name
		}
	}
	return ""
}

// hasOtherPerson reports whether a reference that begins no path leads to a person.
func (t *table) hasOtherPerson() bool {
	return slices.ContainsFunc(t.out, func(r *reference) bool { return r.to.isSubject && !r.isPath() })
}

// parent returns the table to which the first path of t leads directly, or nil if t has no path.
func (t *table) parent() *table {
	if len(t.paths) == 0 {
		return nil
	}
	return t.paths[0].to
}

// isOnly reports whether the table of the data map has at most one row for each person, by a unique reference to her.
func (t *table) isOnly() bool {
	return t.fate != left && len(t.paths) == 1 && t.parent().isSubject && t.paths[0].isUnique()
}

// byDistance returns the tables from which a chain of references leads to the subject's table, the shortest chain
// first.
func (d *draft) byDistance() []*table {
	near := slices.DeleteFunc(slices.Clone(d.tables), func(t *table) bool { return t.distance == unreachable })
	slices.SortStableFunc(near, func(a, b *table) int { return a.distance - b.distance })
	return near
}

// otherParent returns a reference from t to a table that is neither t nor the subject's table, and that no path of t
// begins with. Through the reference, a row may also belong to another person or to a thing. It returns nil if t has no
// such reference.
func (d *draft) otherParent(t *table) *reference {
	for _, r := range t.owners() {
		if r.to != t && r.to != d.subject && !slices.Contains(t.paths, r) && !names.Is(r.to.Name, names.Reference) {
			return r
		}
	}
	return nil
}

// isLink reports whether the rows only link other rows. They hold at least two references, and otherwise only a key,
// instants and booleans. If the name of the table suggests a link, such as memberships or likes, they may also hold
// other columns that do not look personal.
func (t *table) isLink() bool {
	if len(t.owners()) < 2 || len(t.paths) == 0 || t.distance > 1 || t.isAboutMoney() {
		return false
	}
	named := names.Is(t.Name, names.Links) || t.isNamedAfter()
	if names.Is(t.Name, names.Groups) && !t.isNamedAfter() {
		return false
	}
	if !named && (names.Is(t.Name, names.Messages) || t.isOfThing()) {
		return false
	}
	return t.isBare(named)
}

// owners returns the references to rows that may own the row: all except those to partitions, and to further rows of
// the person of the row.
func (t *table) owners() []*reference {
	return slices.DeleteFunc(slices.Clone(t.out), func(r *reference) bool {
		return r.to.partition || r.staysWithOwner()
	})
}

// isBare reports whether the rows hold little except references. If the name of the table suggests that, they may also
// hold other columns that do not look personal.
func (t *table) isBare(named bool) bool {
	few := len(t.paths) == 1 && !names.Is(t.Name, names.Trails)
	return !slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		_, personal := t.found[c.Name]
		switch {
		case t.refers(c.Name), c.Type == datamap.TypeTime, !personal && (c.Type == datamap.TypeBoolean || few && isFixed(c)):
			return false
		case slices.Contains(t.key, c.Name):
			_, isID := names.Stem(c.Name)
			isID = isID || slices.Contains([]string{"id", "uuid", "guid"}, flat(c.Name))
			return family(c.Type) == datamap.TypeText && len(t.key) == 1 && !named && !isID // the key may be data
		default:
			return personal || !named || c.Type == datamap.TypeJSON
		}
	})
}

// repeatsTitle reports whether a column seems to repeat the title of the row, as the slug of a post does.
func (t *table) repeatsTitle(c datamap.CatalogColumn) bool {
	return c.Type == datamap.TypeText && slices.Contains([]string{"slug", "permalink"}, flat(c.Name)) &&
		slices.ContainsFunc(t.Columns, func(other datamap.CatalogColumn) bool {
			m, ok := t.found[other.Name]
			return ok && m.Category == domain.CategoryCommunication
		})
}

// seemsPerson reports whether a column without a foreign key seems to refer to a second person, such as act_user_id,
// reporter_id and the number in author.
func (d *draft) seemsPerson(t *table, c datamap.CatalogColumn) bool {
	stem, isReference := names.Stem(c.Name)
	person := d.subject.base
	key, _ := d.subject.Column(d.subjectID[0])
	isPerson := isReference && names.Names(c.Name, person) && !names.Same(stem, person) || d.hasNameOfKey(c) ||
		isReference && names.IsMember(d.catalog.Tables, stem) || t.included && d.mayBeAgent(t, c) ||
		!isReference && c.Type != datamap.TypeText && (names.IsRole(stem) || d.isWordForPerson(stem))
	return isPerson && !t.isSubject && !t.refers(c.Name) && !t.hasType(c.Name) && !slices.Equal(t.key, []string{c.Name}) &&
		len(d.subjectID) == 1 && family(key.Type) == family(c.Type)
}

// isOfThing reports whether the rows may describe another thing than the person, such as the closure of a ticket: a row
// exists without a person, or the other thing has at most one row.
func (t *table) isOfThing() bool {
	return !slices.ContainsFunc(t.paths, func(r *reference) bool { return !r.nullable() || r.loose }) ||
		slices.ContainsFunc(t.out, func(r *reference) bool {
			return !slices.Contains(t.paths, r) && r.isUnique() && !r.staysWithOwner()
		})
}

// isNamedAfter reports whether the name of a table combines the names of two tables that it refers to. An example is
// team_user.
func (t *table) isNamedAfter() bool {
	parts := 0
	for _, r := range t.out {
		if strings.Contains(flat(t.base), flat(names.Singular(r.to.base))) {
			parts++
		}
	}
	return parts >= 2
}

// isOwn reports whether the name of a table suggests that each row belongs to one person. Examples are user_settings,
// sessions and addresses.
func (d *draft) isOwn(t *table) bool {
	if t.distance != 1 || len(t.paths) != 1 || names.Is(t.Name, names.Things) || t.isAboutMoney() {
		return false
	}
	switch {
	case names.Is(t.Name, names.Sessions):
		return !t.isKeyOfThing()
	case names.Is(t.Name, names.Addresses):
		return d.otherParent(t) == nil
	}
	person := names.Singular(d.subject.base)
	rest, named := strings.CutPrefix(snakeCase(t.base), snakeCase(person)+"_")
	return named && rest != "" && !t.isReference() && !names.Is(t.Name, names.Trails)
}

// snakeCase returns a name in snake case. For example, UserSettings gives user_settings.
func snakeCase(name string) string { return strings.Join(names.Words(name), "_") }

// blocker returns a reference that prevents an erasure from deleting the rows of t, or nil. Each reference does, unless
// the erasure deletes the referring rows with the rows of t. ON DELETE SET NULL prevents it, too, because it would
// change rows of other people.
func (t *table) blocker() *reference {
	i := slices.IndexFunc(t.in, func(r *reference) bool {
		isPart := r.from.rowsDeleted && r.isPath() && len(r.from.paths) == 1
		return len(t.paths) != 1 || !isPart && !r.isSamePerson() && !r.isPointer() && !r.namesLogin()
	})
	if i < 0 {
		return nil
	}
	return t.in[i]
}
