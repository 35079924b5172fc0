package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// askForLeft asks whether the rows of a table that leads to the person are the person's, although the data map does not
// have the table. It does not ask about rows that lead there only through other rows and do not look personal.
func (t *table) askForLeft(d *draft) {
	t.asked = nil
	if !t.isWorthAsking(d) {
		return
	}
	if owner := t.otherOwner(); owner != "" {
		t.ask(owner, "It seems to refer to the owner of the row, but "+t.paths[0].label()+" only leads to a person who "+
			"worked on the row. Are some owners people?", "no: leave the table out", "yes: add a relation with path, "+
			"and with when if the owner has a kind")
		return
	}
	question, named := ofPath+t.paths[0].label(), []string{t.paths[0].label()}
	i := slices.IndexFunc(t.out, func(r *reference) bool { return r.to == d.subject })
	if i >= 0 && t.parent() != d.subject {
		question, named = question+", and by "+t.out[i].label(), append(named, t.out[i].label())
	}
	if r := t.giver(); r != nil {
		question, named = question+", and by "+r.label(), append(named, r.label())
	}
	if t.isDoubtful() {
		question += withoutForeignKey
	}
	question += d.furtherPeople(t, named)
	if personal := strings.Join(t.personalItself(), ", "); personal != "" {
		question += ", and columns look personal (" + personal + ")"
	}
	if unfound := t.unfound(); unfound != "" {
		question += ". " + unfound
	}
	t.ask("", question+ownRows, "no: leave the table out", offer+t.Name)
}

// isWorthAsking reports whether the rows refer to a person, also by her only row in another table, are parts of rows
// that an erasure deletes, or may hold more about a person than other rows that lead to her.
func (t *table) isWorthAsking(d *draft) bool {
	to := t.parent()
	if d.namesTwin(t) || t.isOfOnly() {
		return true
	}
	if t.isPartOfThing() {
		return false
	}
	if to == d.subject || to.fate == deleted || len(t.personal()) > 0 || t.present || t.mayHoldMore(d) {
		return true
	}
	return d.refersToPerson(t) || to.fate == overwritten && (len(t.found) > 0 || len(t.texts()) > 0)
}

// furtherPeople returns clauses with the columns that mean or may mean people, besides those that a question names.
func (d *draft) furtherPeople(t *table, named []string) string {
	var references, unlinked []string
	for _, c := range t.Columns {
		i := slices.IndexFunc(t.out, func(r *reference) bool {
			return (r.to == d.subject || slices.Contains(d.twins, r.to)) && r.label() == c.Name
		})
		switch {
		case slices.Contains(named, c.Name):
		case i >= 0 && !t.out[i].doubtful:
			references = append(references, c.Name)
		case i >= 0, d.mayNamePerson(t, c):
			unlinked = append(unlinked, c.Name)
		}
	}
	clauses := ""
	if len(references) > 0 {
		clauses = furtherReferences + strings.Join(references, ", ") + ")"
	}
	switch len(unlinked) {
	case 0:
		return clauses
	case 1:
		return clauses + furtherColumns + unlinked[0] + withoutForeignKey
	}
	return clauses + furtherColumns + strings.Join(unlinked, ", ") + ", which have no foreign key"
}

// The beginnings of the clauses of furtherPeople.
const (
	furtherReferences = ", and further references lead to people ("
	furtherColumns    = ", and perhaps by "
)

// mayNamePerson reports whether the name of a column without a foreign key may mean a person: see namesPerson and
// mayBeAgent.
func (d *draft) mayNamePerson(t *table, c datamap.CatalogColumn) bool {
	_, isFound := t.found[c.Name]
	isUnclear := slices.ContainsFunc(t.unclear, func(u unclear) bool { return u.column == c.Name })
	return !isFound && !isUnclear && (d.namesPerson(t, c) || d.mayBeAgent(t, c))
}

// namesPerson reports whether the name of a column without a foreign key means a person by a role, such as author, by
// what she did, such as comment_by, or by a word for people, such as person_id. The column may be a document.
func (d *draft) namesPerson(t *table, c datamap.CatalogColumn) bool {
	_, isFound := t.found[c.Name]
	if isFound || t.refers(c.Name) || t.hasType(c.Name) || slices.Equal(t.key, []string{c.Name}) ||
		family(c.Type) == "" && c.Type != datamap.TypeJSON {
		return false
	}
	stem, isReference := names.Stem(c.Name)
	return d.twinOf(t, c) != nil || d.seemsPerson(t, c) || names.IsRole(stem) ||
		names.MeansMaker(c.Name) && d.hasTypeOfKey(c) ||
		isReference && (names.Same(stem, "person") || d.isWordForPerson(stem))
}
