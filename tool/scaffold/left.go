package scaffold

import (
	"slices"
	"strings"

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
	question := ofPath + t.paths[0].label()
	i := slices.IndexFunc(t.out, func(r *reference) bool { return r.to == d.subject })
	if i >= 0 && t.parent() != d.subject {
		question += ", and by " + t.out[i].label()
	}
	if r := t.giver(); r != nil {
		question += ", and by " + r.label()
	}
	if t.isDoubtful() {
		question += withoutForeignKey
	}
	for _, c := range t.Columns {
		stem, _ := names.Stem(c.Name)
		if names.IsMember(d.catalog.Tables, stem) && d.seemsPerson(t, c) || names.TakesPart(stem) && d.mayBeAgent(t, c) {
			question += ", and perhaps by " + c.Name + ", which has no foreign key"
		}
	}
	if personal := strings.Join(t.personalItself(), ", "); personal != "" {
		question += ", and columns look personal (" + personal + ")"
	}
	if unfound := t.unfound(); unfound != "" {
		question += ". " + unfound
	}
	t.ask("", question+ownRows, "no: leave the table out", offer+t.Name)
}

// isWorthAsking reports whether the rows refer to a person, are parts of rows that an erasure deletes, or may hold more
// about a person than other rows that lead to her.
func (t *table) isWorthAsking(d *draft) bool {
	to := t.parent()
	if t.isPartOfThing() {
		return false
	}
	if to == d.subject || to.fate == deleted || len(t.personal()) > 0 || t.present || t.mayHoldMore(d) {
		return true
	}
	return d.refersToPerson(t) || to.fate == overwritten && (len(t.found) > 0 || len(t.texts()) > 0)
}
