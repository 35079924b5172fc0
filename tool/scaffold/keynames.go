package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// guessByKey guesses a reference to the subject's table for each column without a foreign key that has the name of the
// person's key, such as owner_hex, or that is named like a key of a person, such as user_id if the people are in
// members. Such a guess is doubtful, unless isSureKey is true of the column. guessByKey makes no guess about a table
// that refers to people by other columns: see seemsPerson.
func (d *draft) guessByKey() {
	usesKeys := d.usesKeys()
	for _, t := range d.tables {
		for _, c := range t.Columns {
			if t == d.subject || t.refers(c.Name) || d.refersToPerson(t) || !d.namesKey(t, c) {
				continue
			}
			if rival, ok := d.rivalOf(t, c); ok {
				t.unclear = append(t.unclear, unclear{c.Name, d.subject, rival})
			} else if d.guess(t, c, d.subject) {
				r := t.out[len(t.out)-1]
				r.doubtful = usesKeys || !d.isSureKey(c) && !d.isUsual(c)
				if r.role == names.Other {
					r.role = names.Holder // such as owner_hex
				}
			}
		}
	}
}

// usesKeys reports whether the application uses foreign keys for its references to people. Some foreign keys are not
// sufficient: an application may have begun to add them, although most columns such as user_id still have none.
func (d *draft) usesKeys() bool {
	keys, guesses := 0, 0
	for _, r := range d.subject.in {
		switch stem, _ := names.Stem(r.label()); {
		case !r.guessed:
			keys++
		case d.subject.isMeantBy(stem):
			guesses++
		}
	}
	return keys > 0 && guesses <= fewWithoutKey*keys
}

// fewWithoutKey is the maximum number of columns such as user_id without a foreign key for each column with one.
const fewWithoutKey = 2

// namesKey reports whether the name of a column suggests the key of a person: see hasNameOfKey and hasEndingOfKey. A
// word for people also does, such as user_id. So does uid, if the column is a number. If the application uses foreign
// keys, only words in the name of the subject's table count, and user.
func (d *draft) namesKey(t *table, c datamap.CatalogColumn) bool {
	if d.hasNameOfKey(c) || d.hasEndingOfKey(c) {
		return true
	}
	stem, isReference := names.Stem(c.Name)
	if flat(c.Name) == "uid" {
		stem, isReference = "user", family(c.Type) == datamap.TypeBigInt
	}
	if !isReference || slices.Equal(t.key, []string{c.Name}) || names.Same(stem, t.base) {
		return false
	}
	return slices.Contains(peopleWords, flat(stem)) && (d.meansSubject(stem) || !d.usesKeys())
}

// meansSubject reports whether the stem of a reference is user, or in the name of the subject's table.
func (d *draft) meansSubject(stem string) bool {
	return flat(stem) == "user" || names.EndsIn(d.subject.base, stem)
}

// peopleWords are the words for people that need no other word in the name of a reference.
var peopleWords = []string{"user", "account", "member", "person", "customer", "profile", "useraccount", "appuser"}

// hasNameOfKey reports whether a column has the name of the person's key. The name must tell more than names such as id
// and code. If it tells nothing about people, such as uid, it must not be the key of other tables, either.
func (d *draft) hasNameOfKey(c datamap.CatalogColumn) bool {
	key := d.keyName()
	if key == "" || flat(c.Name) != flat(key) || slices.Contains(vagueKeys, flat(key)) {
		return false
	}
	return d.tellsPeople(key) || !slices.ContainsFunc(d.tables, func(other *table) bool {
		return other != d.subject && slices.Equal(other.key, []string{c.Name})
	})
}

// hasEndingOfKey reports whether a column has the name of a role and the ending of the person's key, such as sender_no
// if the key of members is member_no.
func (d *draft) hasEndingOfKey(c datamap.CatalogColumn) bool {
	key := flat(d.keyName())
	ending, ok := strings.CutPrefix(key, flat(names.Singular(d.subject.base)))
	role, hasEnding := strings.CutSuffix(flat(c.Name), ending)
	return ok && ending != "" && hasEnding && names.IsRole(role)
}

// vagueKeys are names of keys that columns for other things have, too.
var vagueKeys = strings.Fields(`
	id uuid guid oid pk key no nr num number code name title slug email mail phone hash token type value url login handle`)

// keyName returns the name of the person's key, or "" if it has several columns.
func (d *draft) keyName() string {
	if len(d.subjectID) != 1 {
		return ""
	}
	return d.subjectID[0]
}

// tellsPeople reports whether the name of a key begins with the name of the subject's table, or with a word for people.
func (d *draft) tellsPeople(key string) bool {
	return isOfTable(key, d.subject) || slices.ContainsFunc(peopleWords, func(word string) bool {
		return strings.HasPrefix(flat(key), word)
	})
}

// isOfTable reports whether the name of a key begins with the name of a table, such as owner_hex for owners.
func isOfTable(key string, t *table) bool {
	of := flat(names.Singular(t.base))
	return strings.HasPrefix(flat(key), of) && flat(key) != of
}

// isSureKey reports whether a column that has the name of the person's key can only mean a person, like user_id beside
// a table users: the name has the ending of a reference, and no other table has people. With another ending, the names
// of other references are not known either, such as parent_hex for the row above.
func (d *draft) isSureKey(c datamap.CatalogColumn) bool {
	key := d.keyName()
	_, isReference := names.Stem(key)
	return isReference && d.hasNameOfKey(c) && d.tellsPeople(key) && d.isAlone()
}

// isAlone reports whether no other table seems to have people of its own. Tables with a column for the key of a person,
// such as profiles, are parts of the person's data, unless this column is their own key.
func (d *draft) isAlone() bool {
	key := d.keyName()
	return !slices.ContainsFunc(d.tables, func(other *table) bool {
		_, refers := other.Column(key)
		found := summarize(other)
		isThing := names.Is(other.Name, names.Messages) || names.Is(other.Name, names.Things)
		isPeople := (names.IsPeople(other.Name) || found.email) && !isThing || found.password ||
			names.RoleOf(other.base) == names.Maker
		return other != d.subject && isPeople && (!refers || slices.Equal(other.key, []string{key}))
	})
}

// rivalOf returns another table that a column without the name of the person's key may mean: its name ends with the
// word in the name of the column. A table that has such a column itself refers to people, as their links do.
func (d *draft) rivalOf(t *table, c datamap.CatalogColumn) (rival string, found bool) {
	stem, isReference := names.Stem(c.Name)
	if !isReference || d.hasNameOfKey(c) {
		return "", false
	}
	i := slices.IndexFunc(d.tables, func(other *table) bool {
		_, refers := other.Column(c.Name)
		return other != d.subject && other != t && names.EndsIn(other.base, stem) &&
			(!refers || slices.Equal(other.key, []string{c.Name}))
	})
	if i < 0 {
		return "", false
	}
	return d.tables[i].Name, true
}

// isNamedAfterPerson reports whether the name of a table, and that of its key, suggest that each row describes the
// person with the same key, although nothing refers to her, as in user_avatars (id, image). The database does not fill
// in such a key.
func (d *draft) isNamedAfterPerson(t *table) bool {
	if len(t.key) != 1 || len(d.subjectID) != 1 || t.isReference() || names.Is(t.Name, names.Things) ||
		names.Is(t.Name, names.Machinery) || slices.ContainsFunc(t.in, func(r *reference) bool { return r.from != t }) {
		return false
	}
	key, _ := t.Column(t.key[0])
	isOwnNumber := key.Default && family(key.Type) == datamap.TypeBigInt && !d.catalog.Untyped
	isID := slices.Contains([]string{"id", "uuid", "guid", "uid", flat(d.subjectID[0])}, flat(key.Name))
	return isID && d.isNamedFor(t) && !isOwnNumber && !t.refers(key.Name) && d.hasTypeOfKey(key)
}

// isNamedFor reports whether the name of a table begins with a word for people, such as user_avatars.
func (d *draft) isNamedFor(t *table) bool {
	return slices.ContainsFunc(append([]string{names.Singular(d.subject.base)}, peopleWords...),
		func(word string) bool {
			return strings.HasPrefix(snakeCase(t.base), snakeCase(word)+"_")
		})
}

// betweenPeople returns the columns by which the rows of a table with texts may have a sender and a recipient, such as
// from_id and to_id, although nothing else shows that these are people.
func (d *draft) betweenPeople(t *table) (sender, recipient string) {
	for _, c := range t.Columns {
		_, isReference := names.Stem(c.Name)
		switch {
		case !isReference || t.refers(c.Name) || t.hasType(c.Name) || !d.hasTypeOfKey(c):
		case names.Sends(c.Name):
			sender = c.Name
		case names.Receives(c.Name):
			recipient = c.Name
		}
	}
	if sender == "" || recipient == "" || len(t.texts()) == 0 && len(t.found) == 0 {
		return "", ""
	}
	return sender, recipient
}
