package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// findShared finds the tables whose rows may belong to several people. These are the groups, such as teams, the tables
// that a link connects with people, such as a document with its readers, and the tables whose rows are parts of such
// rows.
func (d *draft) findShared() {
	for _, t := range d.tables {
		t.partition = d.isPartition(t)
		t.group = !t.partition && (names.Is(t.Name, names.Groups) || slices.ContainsFunc(t.in, func(r *reference) bool {
			return r.from != t && r.from.connectsPeople() && !r.isPath()
		}))
		t.shared = t.group
	}
	for changed := true; changed; {
		changed = false
		for _, t := range d.tables {
			if !t.shared && !t.partition && t != d.subject && t.isPartOfShared() {
				t.shared, changed = true, true
			}
		}
	}
}

// isPartition reports whether the rows of a table only divide the database, as tenants do, and are no second owner of
// the rows that refer to them: each person belongs to one of them by a reference that is NOT NULL. The same applies if
// at least half of all tables have such a reference, and neither a path nor a link connects the table with people.
func (d *draft) isPartition(t *table) bool {
	needs := func(r *reference) bool { return r.to == t && r.from != t && !r.nullable() }
	if t == d.subject || slices.ContainsFunc(d.subject.out, needs) {
		return t != d.subject
	}
	referrers := map[*table]bool{}
	for _, r := range t.in {
		if r.from.connectsPeople() && !slices.ContainsFunc(r.from.out, func(other *reference) bool {
			return other.to != t && other.to != d.subject
		}) {
			return false
		}
		if needs(r) {
			referrers[r.from] = true
		}
	}
	return t.distance == unreachable && len(referrers) >= minReferrers && 2*len(referrers) >= len(d.tables)
}

// minReferrers is the least number of tables by whose references alone a table is a partition.
const minReferrers = 4

// connectsPeople reports whether each row connects a person with rows of other tables, such as a membership.
func (t *table) connectsPeople() bool {
	return t.isLink() || t.distance == 1 && (names.Is(t.Name, names.Links) || t.isNamedAfter())
}

// isPartOfShared reports whether a reference leads to rows that may belong to several people, and does not show by its
// columns that it leads to rows of the same person.
func (t *table) isPartOfShared() bool {
	return slices.ContainsFunc(t.out, (*reference).leadsToShared)
}

// leadsToShared reports whether a row may belong to several people, because it refers to a row that may. A reference
// that can be NULL shows this only if it leads to a group.
func (r *reference) leadsToShared() bool {
	return r.to != r.from && !r.to.isSubject && r.to.shared && !r.staysWithOwner() &&
		(!r.nullable() || r.to.group && r.cascades || names.Is(r.to.Name, names.Groups))
}

// isDeclared reports whether the application declares that the rows go with the person: the only way to her is a
// reference to her that is NOT NULL and has ON DELETE CASCADE, or a reference with ON DELETE CASCADE to rows that go
// with her. Besides, the rows have no second owner, such as a team or another person.
func (d *draft) isDeclared(t *table) bool {
	if len(t.paths) != 1 || t.group || t.isSold() {
		return false
	}
	path := t.paths[0]
	if path.to == d.subject && !path.isOwner() || path.to != d.subject && (!path.cascades || !path.to.goesAlong) {
		return false
	}
	return !slices.ContainsFunc(t.out, func(r *reference) bool {
		return r != path && (r.to == d.subject || r.to != path.to && r.leadsToShared())
	})
}

// isOwner reports whether a reference to a person shows by itself that the row goes with the person. A reference to the
// person that made the row never does, because the row may be a thing that others use.
func (r *reference) isOwner() bool {
	return r.owns() && r.role != names.Party && r.role != names.Maker && !names.Is(r.from.Name, names.Records)
}

// isKeyedByPerson reports whether the only person of a row is a part of its primary key, so that the row cannot outlive
// her, as in user_providers (user_id, provider): her reference has ON DELETE CASCADE, or begins the key of a table that
// is named for people. Besides, the row has no second owner, and is not about money.
func (d *draft) isKeyedByPerson(t *table) bool {
	if len(t.paths) != 1 || t.group || t.isAboutMoney() || d.hasOthers(t) || d.otherParent(t) != nil {
		return false
	}
	path := t.paths[0]
	return path.to == d.subject && !path.guessed && path.role == names.Holder && len(t.PrimaryKey) > len(path.columns) &&
		!slices.ContainsFunc(path.columns, func(name string) bool { return !slices.Contains(t.PrimaryKey, name) }) &&
		(path.owns() || !path.nullable() && slices.Contains(path.columns, t.PrimaryKey[0]) && d.isNamedFor(t))
}

// isIncludedWhole reports whether the caller or an existing data map says that the rows go with the person: they have
// one reference to her, or they are parts of other rows by ON DELETE CASCADE.
func (t *table) isIncludedWhole() bool {
	if !t.included || t.mapped && !t.deletes || len(t.paths) != 1 || names.Is(t.Name, names.Duties) {
		return false
	}
	path := t.paths[0]
	return path.owns() || path.to.isSubject && !t.reversed &&
		!slices.ContainsFunc(t.out, func(r *reference) bool { return r != path && r.to.isSubject })
}

// isGiven reports whether the caller says that the rows go with the person.
func (t *table) isGiven() bool { return t.included && !t.mapped && t.goesAlong }

// isAnswer reports whether the rows seem to answer rows of another person, such as comments and likes.
func (t *table) isAnswer() bool {
	ofPerson := slices.ContainsFunc(t.paths, func(r *reference) bool { return r.to.isSubject || r.to.isOnly() })
	return ofPerson && (names.Is(t.Name, names.Answers) || t.isBare(false) && len(t.owners()) > 1) || t.isLink()
}

// staysTogether reports whether both rows of a reference seem to belong to the same person always. The application
// declares that both go with the person, and both refer to her by columns with the same name. The referring row is no
// answer to another person's row, no payment, and none of several rows of different people, such as the donations to a
// goal.
func (r *reference) staysTogether() bool {
	switch {
	case r.staysWithOwner(), r.from.isGiven() && r.to.isGiven():
		return true
	case r.from.isLink() && r.from.paths[0].owns():
		return r.to.isLink() && r.to.paths[0].owns() // a membership of a membership
	}
	return r.from.goesAlong && r.from.paths[0].owns() && r.to.goesAlong && !r.from.isAnswer() &&
		r.from.paths[0].to != r.to && !r.from.isAboutMoney() && !r.isOncePerPerson() &&
		r.from.wayToPerson() == r.to.wayToPerson()
}

// wayToPerson returns the column with which the only path of the rows ends, or "" if there are several paths.
func (t *table) wayToPerson() string {
	for len(t.paths) == 1 && !t.paths[0].to.isSubject {
		t = t.paths[0].to
	}
	if len(t.paths) != 1 {
		return ""
	}
	return flat(t.paths[0].label())
}

// isOncePerPerson reports whether each person may have one row for each row that the reference leads to, so that the
// rows of several people refer to it.
func (r *reference) isOncePerPerson() bool {
	both := slices.Concat(r.from.paths[0].columns, r.columns)
	isBoth := func(columns []string) bool {
		return slices.Contains(columns, r.label()) && slices.Contains(columns, r.from.paths[0].label()) &&
			!slices.ContainsFunc(columns, func(name string) bool { return !slices.Contains(both, name) })
	}
	return isBoth(r.from.PrimaryKey) || slices.ContainsFunc(r.from.Uniques, func(u datamap.CatalogUnique) bool {
		return isPlain(u) && isBoth(u.Columns)
	})
}

// isPath reports whether the paths of the rows begin with the reference.
func (r *reference) isPath() bool { return slices.Contains(r.from.paths, r) }

// isSamePerson reports whether the proposal states that both rows of a reference belong to the same person always. See
// datamap.Relation.SamePerson.
func (r *reference) isSamePerson() bool {
	isRefused := r.from == r.to && len(r.from.paths) == 1 && (r.restricts || r.from.hasReplies())
	return r.kept && !r.isPath() && !isRefused && r.from.rowsDeleted && r.to.rowsDeleted &&
		len(r.from.paths) == 1 && len(r.to.paths) == 1 && r.staysTogether()
}

// isPointer reports whether a row refers to one of its own parts, such as a chat to its last message, and the database
// can clear the reference.
func (r *reference) isPointer() bool {
	if !r.setsNull || slices.ContainsFunc(r.columns, func(name string) bool {
		c, ok := r.from.Column(name)
		return ok && !c.Nullable
	}) {
		return false
	}
	for t := r.to; len(t.paths) == 1; t = t.paths[0].to {
		if t.paths[0].to == r.from {
			return true
		}
	}
	return false
}

// askForSamePerson asks about each reference between rows that an erasure deletes.
func (t *table) askForSamePerson() {
	for _, r := range t.out {
		if r.isSamePerson() && !r.staysWithOwner() {
			otherwise := "an erasure fails."
			if r.guessed {
				otherwise = "rows of other people lose the row that they refer to."
			}
			t.ask("", "By "+r.label()+", its rows refer to rows of "+r.to.Name+", which an erasure deletes, too. Do both rows "+
				"always belong to the same person? If not, "+otherwise, "yes (same_person)", "no: keep the rows of "+r.to.Name)
		}
	}
}

// isSold reports whether a column shows that the person pays for the row, as for a subscription.
func (t *table) isSold() bool { return t.hasWord(ofSales) }

// isFixed reports whether a column only holds one of a few values, such as the role of a member.
func isFixed(c datamap.CatalogColumn) bool {
	return len(c.Values) > 0 || names.IsOfLink(c.Name) && c.Type != datamap.TypeJSON
}

// otherOwner returns a column that seems to hold the owner of a row, such as owner_id next to owner_kind, if the paths
// only lead to people who worked on the row. It returns "" if there is no such column.
func (t *table) otherOwner() string {
	if len(t.paths) == 0 || slices.ContainsFunc(t.paths, func(r *reference) bool {
		return !r.to.isSubject || r.role != names.Maker
	}) {
		return ""
	}
	i := slices.IndexFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		stem, isReference := names.Stem(c.Name)
		isPath := slices.ContainsFunc(t.paths, func(r *reference) bool { return slices.Contains(r.columns, c.Name) })
		return isReference && !isPath && (names.EndsIn(stem, "owner") ||
			t.hasType(c.Name) && names.RoleOf(c.Name) == names.Holder)
	})
	if i < 0 {
		return ""
	}
	return t.Columns[i].Name
}
