package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// withhold changes the fate of a table to a more careful one if its rows may be records of things, groups or other
// people, although they refer to the person. A caller who includes the table says that the rows are the person's.
func (d *draft) withhold(t *table) {
	if t.included || !t.leadsOnlyToPeople() {
		return
	}
	if t.fate == overwritten && t.isNoteOfGroup() {
		t.fate, t.reason = left, "The rows seem to be notes of the group about a thing."
	}
	if r := t.noted(); t.fate == overwritten && r != nil && !t.isOwned() {
		t.fate, t.reason = left, "The rows seem to be notes about the rows of "+r.to.Name+", who may be other people."
	}
	if t.fate == deleted {
		t.fate, t.reason = d.withheld(t)
	}
}

// withheld returns the fate of a table whose rows would be deleted.
func (d *draft) withheld(t *table) (is fate, reason string) {
	about := t.writtenAbout()
	switch {
	case t.isNoticeToAll():
		return left, "The rows seem to be notices to all people."
	case names.Is(t.Name, names.Notices) && len(t.paths) > 1 && t.isLetter():
		return t.fateOfShared()
	case t.saysWhoOwns():
		return left, "A row may say who owns or wrote a thing or a group, which would have nobody without it."
	case t.isOwned():
		return deleted, t.reason
	case about != "" && slices.Contains(ofReplies, lastWord(t.base)) && t.ofThing() == nil:
		return overwritten, "The rows stay, because they may be part of the rows that " + about + " leads to."
	case about != "":
		return left, "The rows may be about the rows that " + about + " leads to, and not about the person."
	case t.hasThing() && lastWord(t.base) == "assignment":
		return left, "The rows seem to record who worked on a thing."
	case t.hasThing() && (names.Is(t.Name, names.Histories) || lastWord(t.base) == "update"):
		return left, "The rows seem to be the history of a thing."
	case t.isLink() && !d.isLinkOfPerson(t):
		return left, "The rows hold little except references, but nothing shows that they are the person's."
	case t.isOfGroupAndThing() && !t.isOfMember() && !t.isReceived() && !names.Is(t.Name, names.Sessions):
		return left, "The rows may belong to the group that they refer to, because they refer to a thing, too."
	}
	return deleted, t.reason
}

// leadsOnlyToPeople reports whether each path of the rows leads to a person directly.
func (t *table) leadsOnlyToPeople() bool {
	return len(t.paths) > 0 && !t.isSubject &&
		!slices.ContainsFunc(t.paths, func(r *reference) bool { return !r.to.isSubject })
}

// isOwned reports whether the application declares that each person of a row takes the row with her (ON DELETE
// CASCADE).
func (t *table) isOwned() bool {
	return !slices.ContainsFunc(t.paths, func(r *reference) bool { return !r.owns() })
}

// isNoticeToAll reports whether each row seems to be a notice of the application to all people, such as a banner: it
// has a text, and its name, a time in which it is shown or a flag says so. A notice that a person has received is hers.
func (t *table) isNoticeToAll() bool {
	last := lastWord(t.base)
	isNotice := names.Is(t.Name, names.Notices) || last == "banner" || last == "announcement"
	if !isNotice || t.isReceived() || !slices.ContainsFunc(t.Columns, isOfMail) {
		return false
	}
	isOfSite := slices.Contains(ofSites, names.Words(t.base)[0])
	hasTime := t.hasWord([]string{"start", "starts", "started"}) &&
		t.hasWord([]string{"end", "ends", "ended", "finish", "finishes", "stop", "stops", "expires"})
	return isOfSite || hasTime || slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		return c.Type == datamap.TypeBoolean && slices.ContainsFunc(names.Words(c.Name), func(word string) bool {
			return word == "live" || word == "published"
		})
	})
}

// isReceived reports whether a column shows that each row is for one person, who has received or read it.
func (t *table) isReceived() bool {
	return t.isMarkedRead() ||
		slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool { return names.Receives(c.Name) })
}

// isMarkedRead reports whether a column shows whether or when a person has read the row.
func (t *table) isMarkedRead() bool {
	return slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		isMark := c.Type == datamap.TypeTime || c.Type == datamap.TypeBoolean
		return isMark && slices.ContainsFunc(names.Words(c.Name), func(word string) bool {
			return slices.Contains(ofReading, word)
		})
	})
}

// writtenAbout returns a column that leads from a text to a row of one of several tables, such as notable_id beside
// notable_type, and begins no path. It returns "" if there is none, or if the text is kept for one person.
func (t *table) writtenAbout() string {
	if !t.isWritten() || names.Is(t.Name, names.Searches) || names.Is(t.Name, names.Settings) || names.IsSaved(t.base) {
		return ""
	}
	for _, c := range t.Columns {
		_, isReference := names.Stem(c.Name)
		if isReference && !t.refers(c.Name) && t.hasType(c.Name) {
			return c.Name
		}
	}
	return ""
}

// isThing reports whether a reference leads to a thing that need not be the person's, and that is no group.
func (r *reference) isThing() bool {
	return r.to != r.from && !r.to.isSubject && !r.isPath() && !names.Is(r.to.Name, names.Groups) &&
		!names.Is(r.to.Name, names.Reference)
}

func (t *table) hasThing() bool { return slices.ContainsFunc(t.owners(), (*reference).isThing) }

func (t *table) isOfGroupAndThing() bool {
	return t.hasThing() && slices.ContainsFunc(t.owners(), func(r *reference) bool {
		return !r.isPath() && names.Is(r.to.Name, names.Groups)
	})
}

// isOfMember reports whether each row seems to say what one person is, has set or has marked in a group.
func (t *table) isOfMember() bool {
	return names.Is(t.Name, names.Links) || names.Is(t.Name, names.Settings) || names.IsSaved(t.base) || t.joinsPerson()
}

// isNoteOfGroup reports whether each row seems to be a note of a group about a thing, of which the person is the author
// or the last editor: the table is named for notes, or the thing and the group have at most one row.
func (t *table) isNoteOfGroup() bool {
	if !t.isWritten() || !t.isOfGroupAndThing() || t.isOwned() {
		return false
	}
	isOfOthers := func(column string) bool {
		return slices.ContainsFunc(t.out, func(r *reference) bool {
			return !r.to.isSubject && slices.Contains(r.columns, column)
		})
	}
	return slices.Contains(ofNotes, lastWord(t.base)) ||
		slices.ContainsFunc(t.keys(), func(key []string) bool {
			return len(key) > 0 && !slices.ContainsFunc(key, func(c string) bool { return !isOfOthers(c) })
		})
}

// saysWhoOwns reports whether rows that link people with a thing or a group say who owns or wrote it: they have a flag
// such as is_owner, or a name such as post_authors. An application may fail without such a row.
func (t *table) saysWhoOwns() bool {
	isNamed := t.isLink() && slices.Contains([]string{"author", "owner"}, lastWord(t.base))
	return len(t.owners()) > 1 && (isNamed || slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		return c.Type == datamap.TypeBoolean && lastWord(c.Name) == "owner"
	}))
}

// noted returns the reference by which each row seems to be a note about another person, such as that to supporters in
// supporter_notes, or nil.
func (t *table) noted() *reference {
	i := slices.IndexFunc(t.out, func(r *reference) bool {
		isPeople := names.IsPeople(r.to.Name) || names.MeansAgent(names.Singular(r.to.base))
		return !r.to.isSubject && !r.isPath() && isPeople && isPartOf(r.to, t)
	})
	if i < 0 || !t.isWritten() || !slices.Contains(ofNotes, lastWord(t.base)) {
		return nil
	}
	return t.out[i]
}

// keys returns the columns of the primary key and of each unique key.
func (t *table) keys() [][]string {
	list := [][]string{t.PrimaryKey}
	for _, u := range t.Uniques {
		list = append(list, u.Columns)
	}
	return list
}

// isLinkOfPerson reports whether rows that hold little except references are the person's. They link people only with
// people or groups, or the name of the table says what a person is for a thing, or how she has marked it, as likes do.
func (d *draft) isLinkOfPerson(t *table) bool {
	isOfPerson := slices.ContainsFunc([]names.Kind{
		names.Links, names.Settings, names.Searches, names.Notices, names.Blocks, names.Sessions, names.Profiles,
		names.People,
	}, func(kind names.Kind) bool { return names.Is(t.Name, kind) })
	isNamedAfter := slices.ContainsFunc(t.paths, func(r *reference) bool {
		stem, _ := names.Stem(r.label())
		return hasWords(t.base, stem) || hasWords(t.base, r.to.base)
	})
	return isOfPerson || isNamedAfter || d.isNamedFor(t) || names.IsSaved(t.base) || t.isUse() || t.isReceived() ||
		slices.Contains(ofMarks, lastWord(t.base)) || !t.hasThing()
}

// hasWords reports whether the name of a table has the words of another name, in the singular or plural.
func hasWords(table, name string) bool {
	join := func(name string) string {
		parts := slices.Clone(names.Words(name))
		for i := range parts {
			parts[i] = names.Singular(parts[i])
		}
		return " " + strings.Join(parts, " ") + " "
	}
	return strings.Contains(join(table), join(name))
}

var (
	ofSites   = strings.Fields("site sitewide global public maintenance instance")
	ofReading = strings.Fields("read seen opened dismissed acknowledged received")
	ofReplies = strings.Fields("comment reply answer message post")
	ofNotes   = strings.Fields("note memo remark annotation")
	// ofMarks are words for what a person is for a thing, or how she has marked it.
	ofMarks = strings.Fields(`
		fave hide mark play listen heart clap kudo cheer interest save skip completion progress enrollment enrolment
		registration signup rsvp collaboration collaborator todo permission access role seat relation relationship
		connection`)
)
