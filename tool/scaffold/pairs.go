package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// guessPairs guesses references to the subject's table for two columns that are named after the two people of an
// action, such as muter_id and muted_id. The guesses are doubtful unless isBetweenPeople is true of the table, because
// things have such names, too: container_id and contained_id.
func (d *draft) guessPairs() {
	usesKeys := d.usesKeys()
	for _, t := range d.tables {
		doubtful := usesKeys || !d.isBetweenPeople(t)
		for _, acts := range t.Columns {
			i := t.undergoes(acts)
			if t == d.subject || i < 0 || !d.hasTypeOfKey(acts) || !d.hasTypeOfKey(t.Columns[i]) {
				continue
			}
			d.guessAs(t, acts, names.Holder, doubtful)
			d.guessAs(t, t.Columns[i], names.Party, doubtful)
		}
	}
}

// isBetweenPeople reports whether a table is named for what one person does to another, such as mutes and user_blocks.
// A table that is also named after things, as task_blocks after tasks, links these.
func (d *draft) isBetweenPeople(t *table) bool {
	return (names.Is(t.Name, names.Links) || names.Is(t.Name, names.Blocks)) &&
		!slices.ContainsFunc(d.tables, func(other *table) bool {
			return other != t && other != d.subject && isPartOf(other, t)
		})
}

// guessAs guesses a reference to a person with the given role, unless the column refers to something.
func (d *draft) guessAs(t *table, c datamap.CatalogColumn, role names.Role, doubtful bool) {
	if !t.refers(c.Name) && d.guess(t, c, d.subject) {
		r := t.out[len(t.out)-1]
		r.role, r.doubtful = role, doubtful
	}
}

// undergoes returns the index of the column with the person to whom the person in the given column does something, such
// as muted_id for muter_id. It returns -1 if there is none. A word for people, as in user_id, is no action.
func (t *table) undergoes(acts datamap.CatalogColumn) int {
	stem, isReference := names.Stem(acts.Name)
	verb, isActor := strings.CutSuffix(flat(stem), "er")
	if !isReference || !isActor || verb == "" || flat(stem) == "user" {
		return -1
	}
	for i, c := range t.Columns {
		if stem, isReference := names.Stem(c.Name); isReference && flat(stem) == verb+"ed" {
			return i
		}
	}
	return -1
}
