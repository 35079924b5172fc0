package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// fate is what an erasure does with the rows of a table. A table gets another fate than left only if the schema shows
// that its rows are the person's own.
type fate int

const (
	left        fate = iota // the data map does not have the table
	overwritten             // the rows stay, and an erasure overwrites the person's values
	deleted                 // an erasure deletes the rows
)

// fateOf returns the fate of a table if no other table prevents the deletion of its rows, and the reason as a sentence.
func (d *draft) fateOf(t *table) (is fate, reason string) {
	switch {
	case t == d.subject:
		return overwritten, "The table of the people. The row stays without personal data, because other rows refer to " +
			"it. If it is to go, declare the table owned, with columns that have only the strategy erase."
	case t.included && (t.deletes || len(t.found) == 0 && !t.isOfDuty() || t.isIncludedWhole()):
		return deleted, "The rows are deleted, because they belong to the person."
	case t.included:
		return overwritten, "The rows belong to the person, but stay, because no reference shows that they go with her."
	case t.isDoubtful():
		return left, "Only the name of " + t.paths[0].label() + " suggests that the rows refer to a person."
	case t.reversed:
		return overwritten, "The rows stay, because rows of " + t.paths[0].to.Name + " refer to them."
	case t.isSanction():
		return left, "The rows seem to say what the application did about the person."
	case t.ofTwo:
		return t.fateOfShared()
	case t.paths[0].to != d.subject:
		return d.fateOfPart(t)
	case !t.isHeld() && !t.goesAlong:
		return d.fateOfMade(t)
	case t.losesPerson():
		return left, t.whyLost()
	case t.isMailing():
		return left, "The rows seem to be messages of the person to other people, who have received them."
	case names.Is(t.Name, names.Duties) && !t.isLink() && t.isOfGroup():
		return left, "The rows seem to belong to the group that they refer to, and not to the person."
	case names.Is(t.Name, names.Duties) && !t.isLink():
		duty, _ := names.FindDuty(t.Name)
		return overwritten, "The rows stay, because " + duty.Reason + "."
	case t.isLink(), t.joinsPerson() && !t.isAboutMoney():
		return deleted, "The rows are deleted, because they hold little except references."
	case t.goesAlong && (!t.isAnswer() || d.otherParent(t) == nil):
		return deleted, "The rows are deleted, because the application declares that they go with the person (ON DELETE" +
			" CASCADE)."
	case t.isInstalled():
		return left, "The rows seem to be devices that the person has, and that other people may use, too."
	case names.Is(t.Name, names.Things) && d.isKeyedByPerson(t):
		return deleted, "The rows are deleted, because the person is a part of their key."
	case names.Is(t.Name, names.Things):
		return left, "The name of the table suggests things that outlive the person who made them."
	case (t.isAboutMoney() || t.recordsPayments()) && d.isExtension(t):
		return overwritten, "The row stays, because it says what the person bought or pays for, and is her only one."
	case t.isAboutMoney(), t.recordsPayments():
		return left, "The rows seem to describe what the person bought or pays for."
	case len(t.paths) > 1:
		return t.fateOfShared()
	case d.isOfAddress(t):
		return deleted, "The rows are deleted, because the address of the person identifies them."
	case t.own:
		return deleted, "The rows are deleted, because the table's name suggests that they belong to the person."
	}
	return d.fateOfHeld(t)
}

// fateOfPart returns the fate of a table that refers to the person only through rows of another table.
func (d *draft) fateOfPart(t *table) (is fate, reason string) {
	to := t.parent()
	switch {
	case (t.isLink() || t.isBare(false)) && len(t.owners()) > 1 && t.leadsToOthers():
		return left, "The rows may be part of other people's rows, because another reference leads to them."
	case t.goesAlong && to.fate == deleted && !names.Is(t.Name, names.Duties):
		return deleted, "The rows are deleted with the rows of " + to.Name + ", to which they belong."
	case t.paths[0].owns() && to.fate == deleted && len(t.owners()) > 1 && t.isBare(false):
		return deleted, "The rows are deleted with the rows of " + to.Name + ", because they hold little except references."
	case t.paths[0].setsNull:
		return left, "The rows do not belong to the person, because the database clears the reference to " + to.Name + "."
	case t.paths[0].guessed && t.paths[0].nullable():
		return left, "The rows may belong to nobody, because only a name suggests the reference to " + to.Name +
			", and it may be empty."
	case slices.ContainsFunc(t.out, func(r *reference) bool { return r.to.isSubject }):
		return left, "The rows may belong to the person who worked on them."
	case to.fate != deleted:
		return left, "The rows may belong to other people, because the rows of " + to.Name + " stay."
	case names.Is(t.Name, names.Things), names.Is(t.Name, names.Duties), t.isAboutMoney():
		return left, "The name of the table suggests records that outlive the rows of " + to.Name + "."
	}
	return deleted, "The rows are deleted with the rows of " + to.Name + ", to which they belong."
}

// leadsToOthers reports whether a reference that begins no path leads to a person, or to rows that stay and lead to a
// person. The row may then be part of another person's row.
func (t *table) leadsToOthers() bool {
	return slices.ContainsFunc(t.out, func(r *reference) bool {
		return !r.isPath() && r.to != t && !r.staysWithOwner() &&
			(r.to.isSubject || r.to.distance != unreachable && r.to.fate != deleted)
	})
}

// fateOfMade returns the fate of a table whose references lead only to people who worked on the rows.
func (d *draft) fateOfMade(t *table) (is fate, reason string) {
	if names.Is(t.Name, names.Activities) && len(t.ofDevices()) > 0 && !t.losesPerson() && !d.hasOthers(t) {
		return overwritten, "The rows stay, because they show who did what."
	}
	return left, "The person worked on the rows, but need not own them."
}

// fateOfShared returns the fate of a table whose rows are about several people and that is not a link.
func (t *table) fateOfShared() (is fate, reason string) {
	if t.isWritten() {
		return overwritten, "The rows stay, because they are about several people."
	}
	return left, "The rows are about several people."
}

// fateOfHeld returns the fate of a table whose rows have one holder, by the kind of the table.
func (d *draft) fateOfHeld(t *table) (is fate, reason string) {
	other, partaker := d.otherParent(t), d.partakerOf(t)
	switch {
	case partaker != "":
		return left, "The rows may belong to a person whom " + partaker + " names."
	case names.Is(t.Name, names.Settings), names.Is(t.Name, names.Searches), names.IsSaved(t.base), t.isUse():
		return deleted, "The rows are deleted, because an application keeps them for one person."
	case t.isTrailOfPerson() && len(t.ofDevices()) > 0 && !d.hasOthers(t):
		return overwritten, "The rows stay, because they show who did what."
	case t.isTrail():
		return left, "The rows show who did what."
	case t.isProfile():
		return deleted, "The rows are deleted, because each describes one person."
	case d.isMediaOf(t):
		return deleted, "The rows are deleted, because each describes a file of one person."
	case names.IsPeople(t.Name) && !t.isBare(false):
		return left, "The rows seem to describe other people."
	case t.isWritten() && t.isPublication():
		return left, "The rows seem to be published under their own address, and may outlive their author."
	case t.isWritten() && t.hasOtherWriter():
		return left, "The rows seem to hold what one person wrote about another."
	case names.Is(t.Name, names.Accusations) && t.namesRowOf() && t.isWritten():
		return overwritten, "The rows stay, because they may be reports about other people."
	case names.Is(t.Name, names.Accusations) && t.namesRowOf():
		return left, "The rows may be reports about other people."
	case t.isWritten() && other != nil:
		return overwritten, "The rows stay, because they are part of " + other.to.Name +
			", which may belong to another person."
	case t.isWritten() && d.unknownParent(t) != "":
		return overwritten, "The rows stay, because they may be part of the rows that " + d.unknownParent(t) + " leads to."
	case t.isWritten(), names.Is(t.Name, names.Activities) && other == nil && len(t.found) > 0:
		return deleted, "The rows are deleted, because they refer to one person only."
	case len(t.owners()) == 1 && !t.isNamed() && !t.isOfThing():
		return deleted, "The rows are deleted, because they refer to one person only."
	}
	return left, "Nothing shows that the rows belong only to the person."
}

// keep changes the fate of a table whose rows cannot be deleted, because of the given clause.
func (t *table) keep(d *draft, why string) {
	t.rowsDeleted, t.fate = false, left
	if t.included || t.paths[0].to == d.subject && slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		m, ok := t.found[c.Name]
		return ok && t.mayOverwrite(c, m) && !t.isOfDoer(c)
	}) {
		t.fate = overwritten
	}
	t.reason = "The rows stay, because " + why + "."
}

// mayOverwrite reports whether an erasure may overwrite a column of rows that stay, which looks personal.
func (t *table) mayOverwrite(c datamap.CatalogColumn, m names.Match) bool {
	switch {
	case t.isSubject, t.included, t.reversed, t.own, t.goesAlong, t.isProfile():
		return true
	case m.Secret:
		return false // it may protect more than the person
	case names.Is(t.Name, names.Duties):
		return slices.Contains(retained, m.Category) // the records must stay complete
	case t.isTrail(), names.Is(t.Name, names.Activities) && !t.isWritten():
		return isOfDevice(c, m)
	}
	return true
}

// isTrail reports whether the rows show who did what: the table is a log, or a history of rows of other tables.
func (t *table) isTrail() bool {
	return names.Is(t.Name, names.Trails) || len(t.copies()) > 0 ||
		names.Is(t.Name, names.Histories) && names.IsOfSeveral(t.CatalogTable)
}

// isTrailOfPerson reports whether the name of a trail does not say of what else it is a trail, as that of
// patient_changelogs does. The devices in its rows are then those of the person.
func (t *table) isTrailOfPerson() bool {
	return names.Is(t.Name, names.Trails) || names.Is(t.Name, names.Histories) && t.namesRowOf() && len(t.copies()) > 0
}

// isHeld reports whether a reference that begins a path shows that the row belongs to the person.
func (t *table) isHeld() bool {
	return slices.ContainsFunc(t.paths, func(r *reference) bool {
		return r.role == names.Holder || r.role == names.Other && (r.isUnique() || r.owns()) ||
			r.role != names.Maker && t.isLink()
	})
}

// losesPerson reports whether the database clears each reference to the holder of a row when it deletes the holder.
func (t *table) losesPerson() bool {
	return !slices.ContainsFunc(t.paths, func(r *reference) bool { return r.role != names.Party && !r.setsNull })
}

// whyLost returns the reason why the rows of a table that loses its person do not belong to her, as a sentence.
func (t *table) whyLost() string {
	to := t.parent().Name
	if slices.ContainsFunc(t.paths, func(r *reference) bool { return !r.setsNull }) {
		return "The rows do not belong to the person, because their references to " + to + " only name other people, or" +
			" the database clears them."
	}
	return "The rows do not belong to the person, because the database clears the reference to " + to + "."
}

// isSanction reports whether the rows say what moderators did about a person, such as strikes and bans, or what others
// reported about her. Reports count only if they refer to a second person, and blocks only if this person made the row.
func (t *table) isSanction() bool {
	return names.Is(t.Name, names.Sanctions) ||
		slices.ContainsFunc(t.out, func(r *reference) bool {
			return r.to.isSubject && !slices.Equal(r.columns, t.paths[0].columns) && (names.Is(t.Name, names.Accusations) ||
				names.Is(t.Name, names.Blocks) && r.role == names.Maker)
		})
}

// namesRowOf reports whether a column refers to one of several tables: see kindOf.
func (t *table) namesRowOf() bool {
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		_, isReference := names.Stem(c.Name)
		return isReference && t.hasType(c.Name)
	})
}

// isOfGroup reports whether the rows exist only with a group, but also without a person.
func (t *table) isOfGroup() bool {
	return !slices.ContainsFunc(t.paths, func(r *reference) bool { return !r.nullable() }) &&
		slices.ContainsFunc(t.out, func(r *reference) bool { return r.to.group && r.owns() })
}

func (t *table) hasProvider() bool {
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		return strings.HasPrefix(flat(c.Name), "provider")
	})
}

// isKeyOfThing reports whether the rows hold tokens or keys that seem to belong to a thing of the application, such as
// the token of a project.
func (t *table) isKeyOfThing() bool {
	parts := names.Words(t.base)
	if len(parts) == 0 {
		return false
	}
	last := names.Singular(parts[len(parts)-1])
	if !slices.Contains([]string{"token", "key", "credential", "grant", "authorization"}, last) {
		return false
	}
	if slices.ContainsFunc(parts, func(word string) bool {
		return slices.Contains([]string{
			"access", "oauth", "refresh", "reset", "verification", "confirmation", "login", "remember", "session", "password",
			"recovery", "email", "push", "device", "auth", "passkey", "webauthn",
		}, word)
	}) && !slices.Contains(parts, "api") {
		return false
	}
	return slices.ContainsFunc(t.out, func(r *reference) bool {
		return r.to != t && r.to != t.parent() && !r.staysWithOwner()
	})
}

// isWritten reports whether the rows hold texts that a person wrote.
func (t *table) isWritten() bool {
	if !names.Is(t.Name, names.Messages) {
		return false
	}
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		m, ok := t.found[c.Name]
		if !ok || m.Secret || m.Category != domain.CategoryCommunication && m.Means != names.Email {
			return false
		}
		return !names.MayBeThings(t.Name) || slices.Contains(bodies, m.Word) || m.Means == names.Email
	})
}

// bodies are names of columns with a text that a person wrote, in tables that as often hold other texts.
var bodies = []string{
	"body", "content", "text", "message", "comment", "note", "reason", "feedback", "answer", "reply", "message body",
	"message text", "complaint",
}

// hasOtherWriter reports whether each row refers to a second person, who worked on it and may have written it. A
// reference that may be NULL counts only if the table is named after it, as reviews are after reviewer_id.
func (t *table) hasOtherWriter() bool {
	parts := names.Words(t.base)
	return slices.ContainsFunc(t.out, func(r *reference) bool {
		isNamesake := len(parts) > 0 && strings.HasPrefix(flat(r.label()), names.Singular(parts[len(parts)-1]))
		return r.to.isSubject && !slices.Contains(t.paths, r) && (!r.nullable() || r.loose || isNamesake)
	})
}

// hasOthers reports whether a column seems to name a second person, so that the address of a device in the row may be
// that of the other person.
func (d *draft) hasOthers(t *table) bool {
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		stem, isReference := names.Stem(c.Name)
		inPath := slices.ContainsFunc(t.paths, func(r *reference) bool { return slices.Contains(r.columns, c.Name) })
		return isReference && !inPath && (names.IsRole(stem) || names.EndsIn(stem, d.subject.base) ||
			slices.ContainsFunc(t.out, func(r *reference) bool { return r.to.isSubject && slices.Contains(r.columns, c.Name) }))
	})
}

// joinsPerson reports whether the name of the table combines the names of the people and of another table that it
// refers to, as in users_organizations.
func (t *table) joinsPerson() bool {
	isNamed := func(r *reference) bool { return strings.Contains(flat(t.base), flat(names.Singular(r.to.base))) }
	return slices.ContainsFunc(t.paths, func(r *reference) bool { return r.to.isSubject && isNamed(r) }) &&
		slices.ContainsFunc(t.out, func(r *reference) bool { return !r.to.isSubject && isNamed(r) })
}

// isAboutMoney reports whether a column shows what the person bought or pays for, as in the subscription to a plan.
func (t *table) isAboutMoney() bool { return t.hasWord(ofMoney) }

// isNamed reports whether a column shows that each row is a thing with a name or a secret of its own.
func (t *table) isNamed() bool { return t.hasWord(ofThings) }

func (t *table) hasWord(list []string) bool {
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		return slices.ContainsFunc(names.Words(c.Name), func(word string) bool { return slices.Contains(list, word) })
	})
}

var (
	ofSales  = []string{"plan", "stripe", "billing", "invoice", "paddle", "subtotal", "vat"}
	ofMoney  = append([]string{"price", "amount", "currency"}, ofSales...)
	ofNames  = []string{"name", "title", "slug", "label", "description"} // of things
	ofThings = append(strings.Fields("url uri secret token key code domain filename path config version"), ofNames...)
)

// ofDevices returns the columns that hold the network address or the device of the person.
func (t *table) ofDevices() []string {
	var list []string
	for _, c := range t.Columns {
		if m, ok := t.found[c.Name]; ok && isOfDevice(c, m) {
			list = append(list, c.Name)
		}
	}
	return list
}

func isOfDevice(c datamap.CatalogColumn, m names.Match) bool {
	return !m.Secret && c.Type != datamap.TypeJSON && m.Category == domain.CategoryTechnical
}
