package scaffold

import (
	"cmp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/tool/internal/dictionary"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// about returns the sentences that say why a table is in question.
func (d *draft) about(t *table) (sentences []string) {
	var paths, rest, personal, closing []string
	for _, l := range t.links {
		if !l.Plausible() {
			rest = append(rest, l.Column())
			continue
		}
		path := l.Column()
		if l.References != d.subject.Name {
			path += " (through " + l.References + ")"
		}
		paths = append(paths, path)
	}
	for _, c := range t.Columns {
		isLinked := slices.ContainsFunc(t.links, func(l facts.Link) bool { return slices.Contains(l.Columns, c.Name) })
		if d.CouldHoldKey(t.CatalogTable, c) && !isLinked && !d.isNoKey(t, c.Name) {
			rest = append(rest, c.Name)
		}
		if entry, ok := dictionary.Column(c.Name, c.Type); ok {
			personal = append(personal, c.Name)
			if entry.Closes {
				closing = append(closing, c.Name)
			}
		}
	}
	if len(paths) > 0 {
		sentences = append(sentences, "Its rows seem to lead to people by "+list(paths)+". Whose are they?")
	} else {
		sentences = append(sentences, "Are its rows about people?")
	}
	if word := d.asks(t); word != "" {
		sentences = append(sentences, "The word "+word+" may mean that others need the rows.")
	}
	if len(personal) > 0 {
		sentences = append(sentences, "These columns look personal: "+list(personal)+".")
	}
	if len(closing) > 0 {
		sentences = append(sentences, "A person may stay logged in as long as these stay as they are: "+list(closing)+".")
	}
	if len(rest) > 0 {
		sentences = append(sentences, "These have the type of a key, too: "+list(rest)+
			". Where one names another person, an erasure changes that person's row.")
	}
	if len(t.key) == 0 {
		sentences = append(sentences, "A data map cannot have it, because it has no key.")
	}
	if dictionary.People(t.Name) && subjectKey(t) != nil && len(personal) > 0 {
		sentences = append(sentences, "If they are other people, make another data map of them (Config.Name, "+
			"--name "+MapName(t.Name)+").")
	}
	return sentences
}

// harms returns a sentence for each way in which the first option may change rows of other people.
func (d *draft) harms(t *table) (sentences []string) {
	var people, doubtful []string
	for _, l := range t.links {
		if l.Plausible() {
			people = append(people, l.Column())
		}
		if !l.Likely && l.Plausible() {
			doubtful = append(doubtful, l.Column())
		}
	}
	paths := d.pathsOf(t)
	if len(paths) == 0 {
		return nil
	}
	first := paths[0]
	if !first.Plausible() {
		doubtful = append(doubtful, first.Column())
	}
	if len(people) > 1 {
		sentences = append(sentences, "A row can be about several people ("+list(people)+
			"): what an erasure of one of them does to it, it also does to the row of the others.")
	}
	for _, l := range paths {
		if sharing := d.sharing(l); sharing != "" {
			sentences = append(sentences, "People share rows of "+l.References+" ("+sharing+"): through "+l.Column()+
				", an erasure also changes rows that are others'.")
		}
	}
	if len(doubtful) > 0 {
		sentences = append(sentences, "If "+list(doubtful)+" holds other keys than those of "+d.subject.Name+
			", an erasure through it changes rows of other people.")
	}
	for _, l := range paths {
		if l.Guessed {
			sentences = append(sentences, "Rows count as the person's where "+l.When.Column+" is "+l.When.Value+
				": check this value.")
		}
	}
	if sharing := d.sharedBy(t, nil); len(sharing) > 0 {
		sentences = append(sentences, "Rows of other people refer to its rows ("+list(sharing)+
			"): what deletes its rows also deletes theirs, or clears the reference.")
	}
	return sentences
}

// sharing returns why people share the rows to which a link leads, or "".
func (d *draft) sharing(l facts.Link) string {
	to := d.table(l.References)
	if to == d.subject {
		return ""
	}
	reasons := d.sharedBy(to, nil)
	var owners []string
	for _, next := range to.links {
		if next.Plausible() {
			owners = append(owners, to.Name+"."+next.Column())
		}
	}
	if len(owners) > 1 {
		reasons = append(reasons, owners...)
	}
	return list(reasons)
}

// sharedBy returns the columns by which other people share the rows of the table.
func (d *draft) sharedBy(t *table, reasons []string) []string {
	for _, s := range d.Shared(t.CatalogTable) {
		if s.Likely {
			reasons = append(reasons, s.Table+"."+s.Column)
		}
	}
	return reasons
}

func list(words []string) string {
	const most = 5
	if len(words) > most {
		words = append(slices.Clone(words[:most]), "…")
	}
	return strings.Join(words, ", ")
}

// MapName returns a name for the data map whose subject's table has the given name (app.Config.Name, --name). It is the
// name of the table without its schema, and without all characters that the name of a data map cannot have. For
// example, the name for hr.staff_members is staffmembers. datamap.CheckMapName accepts the result.
func MapName(table string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(dictionary.Base(table)))
	const most = 20 // see datamap.CheckMapName
	return cmp.Or(name[:min(most, len(name))], "other")
}
