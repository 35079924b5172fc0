package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// guessByTable guesses a reference for each column that is named after a table, such as user_id, or after another row
// of its table, and has no foreign key.
func (d *draft) guessByTable() {
	called := map[string][]*table{}
	for _, t := range d.tables {
		called[names.Fold(t.base)] = append(called[names.Fold(t.base)], t)
		if full := names.BaseName(t.Name); full != t.base {
			called[names.Fold(full)] = append(called[names.Fold(full)], t)
		}
	}
	for _, t := range d.tables {
		for _, c := range t.Columns {
			stem, ok := names.Stem(c.Name)
			if t.refers(c.Name) || t.namesRowAbove(c) && d.guess(t, c, t) || !ok {
				continue
			}
			for _, to := range called[names.Fold(stem)] {
				isProvided := t == to && t.hasProvider() // account_id in accounts at providers
				if !isProvided && d.guess(t, c, to) {
					break
				}
			}
		}
	}
}

// namesRowAbove reports whether the name of a column in a table of texts means another row of the table, such as
// parent_id of a comment. The name may have the ending of the own key, such as parent_hex for comment_hex.
func (t *table) namesRowAbove(c datamap.CatalogColumn) bool {
	if !names.Is(t.Name, names.Messages) || len(t.key) != 1 {
		return false
	}
	stem, _ := names.Stem(c.Name)
	own := flat(names.Singular(t.base))
	if ending, ok := strings.CutPrefix(flat(t.key[0]), own); ok && ending != "" {
		stem = strings.TrimSuffix(flat(c.Name), ending)
	}
	return slices.Contains([]string{"parent", "replyto", "inreplyto", "repliedto"}, flat(stem))
}

// guessByRole guesses a reference to the subject's table for each column that is named after a role of a person, such
// as sender_id. If the application uses foreign keys for its references to people, see usesKeys, a guess is doubtful,
// unless isSure or isOfPerson is true of the column. If the table does not refer to people by other columns, so is a
// guess from a name without an ending such as _id that means the owner of the row, such as author and member, because
// the column may hold another number. guessByRole makes no doubtful guess about a table that refers to people by other
// columns: see seemsPerson.
func (d *draft) guessByRole() {
	usesKeys := d.usesKeys()
	for _, t := range d.tables {
		refers := d.refersToPerson(t)
		var words []*reference
		for _, c := range t.Columns {
			stem, isReference := names.Stem(c.Name)
			if c.Type == datamap.TypeText && !isReference || names.Same(stem, t.base) || t.refers(c.Name) {
				continue // for example, the column is the own key of the table
			}
			if t == d.subject && !names.MeansRelative(c.Name) {
				continue // for example, the id of the person at a provider
			}
			isOwner := !isReference && !refers && names.RoleOf(c.Name) == names.Holder
			doubtful := (usesKeys && !d.isSure(c.Name) || isOwner) && !d.isOfPerson(t, c.Name)
			if !names.Names(c.Name, d.subject.base) && !names.IsRole(stem) || doubtful && refers {
				continue
			}
			if d.guess(t, c, d.subject) {
				r := t.out[len(t.out)-1]
				r.doubtful = doubtful
				if isOwner && !usesKeys {
					words = append(words, r)
				}
			} else if ownsToken(c.Name) && !t.hasType(c.Name) {
				t.ask(c.Name, "It seems to refer to a person, but the key of "+d.subject.Name+" has another type. Are the rows "+
					"the person's?", "no: leave the table out", "yes: give the column the type of the key")
			}
		}
		t.trustBesidePeople(words)
	}
}

// trustBesidePeople makes the references by words such as author sure if another reference leads to a person to whom
// the row may belong. The row is then about several people.
func (t *table) trustBesidePeople(words []*reference) {
	for _, word := range words {
		if slices.ContainsFunc(t.out, func(r *reference) bool {
			return r.to == word.to && !slices.Contains(words, r) && !r.doubtful && r.role != names.Maker
		}) {
			word.doubtful = false
		}
	}
}

// isWordForPerson reports whether a name is the word for one row of the table of the people, or the word user.
func (d *draft) isWordForPerson(name string) bool {
	return flat(name) == "user" || flat(name) == flat(names.Singular(d.subject.base))
}

// isDoubtful reports whether only doubtful references lead from the table to a person.
func (t *table) isDoubtful() bool {
	return !slices.ContainsFunc(t.paths, func(r *reference) bool { return !r.doubtful })
}

// isSure reports whether a column means a person even if the application uses foreign keys: it is the owner of a token,
// or it has a role and the name of the people, such as to_user_id.
func (d *draft) isSure(column string) bool {
	stem, isReference := names.Stem(column)
	return ownsToken(column) || isReference && names.EndsIn(stem, d.subject.base) &&
		(names.Sends(column) || names.Receives(column))
}

// ownsToken reports whether the column is the owner of a token of OAuth. Libraries add no foreign key to it.
func ownsToken(column string) bool {
	stem, isReference := names.Stem(column)
	return isReference && names.Same(stem, "resource_owner")
}

// guess adds a reference from the column to the key of the table parent. It returns false if the types of the column
// and the key do not match.
func (d *draft) guess(t *table, c datamap.CatalogColumn, parent *table) bool {
	if len(parent.key) != 1 || t == parent && slices.Contains(t.key, c.Name) || c.Generated || t.hasType(c.Name) ||
		t.hasSecretOf(c.Name) {
		return false
	}
	key, _ := parent.Column(parent.key[0])
	if family(key.Type) == "" || family(key.Type) != family(c.Type) {
		var ok bool
		if key, ok = parent.uniqueFor(c); !ok {
			return false
		}
	}
	if rival := d.memory.rival(d.catalog.Tables, t.CatalogTable, c, parent.CatalogTable); rival != "" {
		t.unclear = append(t.unclear, unclear{c.Name, parent, rival})
		return false
	}
	d.add(&reference{from: t, to: parent, columns: []string{c.Name}, referenced: []string{key.Name}, guessed: true})
	return true
}

// uniqueFor returns a unique column to which a reference may lead instead of the primary key: it has the name of the
// column, such as user_uid, or its ending, such as uuid for user_uuid.
func (t *table) uniqueFor(c datamap.CatalogColumn) (key datamap.CatalogColumn, found bool) {
	for _, u := range t.Uniques {
		if !isPlain(u) || len(u.Columns) != 1 {
			continue
		}
		key, _ = t.Column(u.Columns[0])
		name := flat(key.Name)
		isEnding := slices.Contains([]string{"uuid", "guid", "uid"}, name) && strings.HasSuffix(flat(c.Name), name)
		isAlike := !key.Nullable && family(key.Type) != "" && family(key.Type) == family(c.Type)
		if isAlike && (isEnding || name == flat(c.Name)) {
			return key, true
		}
	}
	return datamap.CatalogColumn{}, false
}

// unclear is a column without a foreign key that is named after the table to, but may refer to a table with a nearer
// name. See names.Rival.
type unclear struct {
	column string
	to     *table
	rival  string
}

// askForUnclear asks about the columns that may refer to a person or to a row of another table. The proposal has no
// relation for them.
func (d *draft) askForUnclear() {
	for _, t := range d.tables {
		var asked []string
		for _, u := range t.unclear {
			if u.to.distance == unreachable || t.refers(u.column) || slices.Contains(asked, u.column) {
				continue
			}
			asked = append(asked, u.column)
			t.ask(u.column, "It has no foreign key, and may refer to "+u.rival+" or to "+u.to.Name+". To which table does it "+
				"refer?", u.rival+": add no relation", u.to.Name+": add a relation to it")
		}
	}
}
