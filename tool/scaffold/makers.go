package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/tool/internal/names"
)

// mostTables is the number of tables up to which equal questions about tables stay questions about each of them.
const mostTables = 2

// foldTables asks one question instead of equal questions about many tables: about those whose rows only say which
// person made or changed them, and about those without a key.
func (d *draft) foldTables() {
	d.foldQuestions(d.isOnlyMade, "Their rows only say which person made, changed or judged them. Are some of them the "+
		"person's own rows?", "no: leave the tables out", "yes: add them to the data map")
	d.foldQuestions(func(t *table) bool {
		return slices.ContainsFunc(t.asked, func(asked Decision) bool { return asked.Question == withoutKey })
	}, "They have no key of NOT NULL columns, so an erasure cannot find their rows. Do they hold personal data?",
		"leave them out", "give them a primary key")
	d.foldLike(func(t *table, asked Decision) (string, bool) {
		return strings.Join(t.personalItself(), ", "), d.isInThing(t) && strings.HasPrefix(asked.Question, ofPath)
	}, alike, "These columns look personal, but only things on which several people may act lead from their rows "+
		"to a person. Are some of them the person's own rows?", "no: leave the tables out",
		"yes: take them in with --include, or add relations")
}

// isInThing reports whether the rows lead to a person only through a thing that is left out, and look personal. They
// need not be those of the person who made or owns the thing.
func (d *draft) isInThing(t *table) bool {
	return len(t.paths) > 0 && t.parent().isOnlyThing() && !t.parent().isSubject &&
		!d.refersToPerson(t) && len(t.personalItself()) > 0
}

// foldQuestions asks a question about the subject's table instead of the questions about the rows of the tables for
// which fits is true, if these are many.
func (d *draft) foldQuestions(fits func(*table) bool, question, chosen, other string) {
	tables := slices.DeleteFunc(slices.Clone(d.tables), func(t *table) bool { return !fits(t) })
	if len(tables) <= mostTables {
		return
	}
	var list []string
	for _, t := range tables {
		t.asked, t.folded, list = t.askedOfColumns(), true, append(list, t.Name)
	}
	d.subject.ask("", "Tables "+strings.Join(list, ", ")+": "+question, chosen, other)
}

// withoutKey is the question about a table without a key.
const withoutKey = "It has no key of NOT NULL columns, so an erasure cannot find its rows. Does it hold personal data?"

func (t *table) askForPrimaryKey() { t.ask("", withoutKey, "leave it out", "give it a primary key") }

// isOnlyMade reports whether a table is left out with a question, although its rows do not look personal, and refer to
// people only as those who made or changed a row. Rows that are left out, too, may also lead to a person, as those of a
// team do. The caller can include the table alone, or the people only decided about the rows.
func (d *draft) isOnlyMade(t *table) bool {
	isOfPerson := slices.ContainsFunc([]names.Kind{
		names.Messages, names.Settings, names.Links, names.Profiles, names.Trails, names.Searches, names.Sessions,
	}, func(k names.Kind) bool { return names.Is(t.Name, k) })
	rows := slices.DeleteFunc(slices.Clone(t.asked), func(asked Decision) bool { return asked.Column != "" })
	return t.fate == left && len(t.paths) > 0 && len(rows) == 1 &&
		(slices.Contains(rows[0].Options, offer+t.Name) || d.isJudged(t)) &&
		!isOfPerson && !strings.Contains(rows[0].Question, furtherColumns) &&
		len(t.personal()) == 0 && !slices.ContainsFunc(t.out, func(r *reference) bool {
		return r.to.isSubject && (r.role != names.Maker || r.owns()) || !r.to.isSubject && r.isPath() && r.to.fate != left
	}) && slices.ContainsFunc(t.out, func(r *reference) bool { return r.to.isSubject })
}
