package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/names"
)

// recognise finds the columns that look personal.
func (d *draft) recognise() {
	for _, t := range d.tables {
		for _, c := range t.Columns {
			m, ok := names.Find(t.Name, c.Name, c.Type)
			written := m.Category == domain.CategoryCommunication && len(c.Values) > 0 // a choice, and no text
			if ok && !written && !t.refers(c.Name) {
				t.found[c.Name] = m
			}
		}
	}
}

// isReferredTo reports whether other rows find the row by the column.
func (t *table) isReferredTo(column string) bool {
	return slices.ContainsFunc(t.in, func(r *reference) bool { return slices.Contains(r.referenced, column) })
}

// annotate writes the columns of the tables that reach the subject's.
func (d *draft) annotate() {
	for _, t := range d.byDistance() {
		since := t.since()
		for _, c := range t.Columns {
			t.columns = append(t.columns, d.annotated(t, c, since))
		}
		t.askForUnique()
		t.askForVia()
		t.askForDuty(since)
		t.askForTypes()
	}
}

// annotated is the column as the data map has it.
func (d *draft) annotated(t *table, c domain.CatalogColumn, since string) domain.Column {
	column := domain.Column{Name: c.Name, Type: c.Type, Note: t.referenceNote(c.Name)}
	if c.Type == domain.TypeText {
		column.Length = c.Length
	}
	m, ok := t.found[c.Name]
	isKey := slices.Contains(t.key, c.Name) || t.isReferredTo(c.Name) ||
		t == d.subject && slices.Contains(d.subjectID, c.Name)
	switch {
	case !ok && c.Type == domain.TypeJSON && !t.goes && !isKey && !c.Generated && !t.refers(c.Name):
		m = names.Match{Category: domain.CategoryTechnical}
		if !d.askForJSON(t, c) {
			return column
		}
		column.Note = "The name does not tell what it holds."
	case !ok:
		return column
	default:
		column.Note = sentence(m.Reason())
	}
	if !t.goes && (isKey || c.Generated) {
		t.askForFixed(c, m, isKey)
		return column
	}
	annotation := domain.Annotation{Category: m.Category, Via: t.viaOf(c.Name)}
	switch {
	case m.Secret:
		annotation.Export = domain.ExportNo
	case domain.SoundsSecret(c.Name):
		annotation.Export = domain.ExportYes
	}
	if !t.goes && !t.fit(c, m, &column, &annotation, since) {
		return column
	}
	t.askForAuthor(c, m)
	if column.Type == "" {
		column.Type = domain.TypeText
	}
	column.Personal = &annotation
	if m.Category == domain.CategoryIdentity && isFile(c) {
		t.ask(c.Name, "Does it name a file in an external system, whose resolver has to delete the file?", "no",
			"yes: add ref with the name of the resolver")
	}
	return column
}

// sentence makes a sentence of a reason.
func sentence(reason string) string { return strings.ToUpper(reason[:1]) + reason[1:] + "." }

// referenceNote says what a column refers to, if that is a guess or a choice.
func (t *table) referenceNote(column string) string {
	for _, r := range t.out {
		if !slices.Contains(r.columns, column) {
			continue
		}
		var notes []string
		if r.guessed {
			notes = append(notes, "It has no foreign key; by its name, it refers to "+r.to.Name+".")
		}
		isPath := slices.Contains(t.paths, r)
		switch {
		case isPath && len(t.out) > 1:
			notes = append(notes, "The rows belong to the person that it leads to.")
		case !isPath && r.to.far != unreachable && t.far > 0 && r.to != t:
			notes = append(notes, "It leads to a person as well, but the rows are not taken for that person's.")
		}
		if len(notes) > 0 {
			return strings.Join(notes, " ")
		}
	}
	return ""
}

// isFile reports whether a column seems to name a file.
func isFile(c domain.CatalogColumn) bool {
	return c.Type == domain.TypeText && slices.ContainsFunc(domain.NameWords(c.Name), func(word string) bool {
		return slices.Contains([]string{"avatar", "photo", "picture", "image", "file", "header", "portrait"}, word)
	})
}

// askForJSON asks whether a column of documents holds personal data, and reports whether it is taken for personal.
func (d *draft) askForJSON(t *table, c domain.CatalogColumn) bool {
	erase, leave := "overwrite it", "leave it as it is"
	question := "Do its documents hold personal data?"
	if t.far > 1 {
		return false
	}
	if t == d.subject || names.IsPeople(t.Name) || names.Is(t.Name, names.Activities) {
		t.ask(c.Name, question, erase, leave)
		return true
	}
	t.ask(c.Name, question, leave, erase)
	return false
}

// askForFixed asks about a personal value that an erasure cannot overwrite.
func (t *table) askForFixed(c domain.CatalogColumn, m names.Match, isKey bool) {
	if !isKey {
		t.ask(c.Name, "It looks personal and is computed from other columns: does it follow them when they are overwritten?",
			"yes", "no: it has to be changed in the schema")
		return
	}
	t.ask(c.Name, "It looks personal ("+m.Means+") and is the key, which an erasure does not overwrite: may it stay?",
		"it stays", "delete the rows", "give the table another key")
}

// viaOf is the path to the person whom a column of rows about several people belongs to.
func (t *table) viaOf(column string) string {
	vias := t.vias()
	if len(vias) < 2 {
		return ""
	}
	if t.paths[0].turned {
		return strings.Join(vias, ",")
	}
	for _, via := range vias {
		if strings.HasPrefix(flat(column), flat(via)) {
			return via
		}
	}
	return vias[0]
}

func flat(name string) string { return strings.Join(domain.NameWords(name), "") }

// askForAuthor asks about a text of which the name tells that it may be another person's: original_comment_text, next
// to a reference to a comment.
func (t *table) askForAuthor(c domain.CatalogColumn, m names.Match) {
	for _, r := range t.out {
		stem, _ := names.Stem(r.columns[len(r.columns)-1])
		isPath := r.to.far == 0 || r.to.far == unreachable || slices.Contains(t.paths, r)
		if m.Category == domain.CategoryCommunication && !isPath && strings.Contains(flat(c.Name), flat(stem)) {
			t.ask(c.Name, "Was it written by the person that "+r.label()+" leads to?", "no",
				"yes: mark both relations as paths, and say via")
			return
		}
	}
}

// askForVia asks whom the values belong to, once for a table.
func (t *table) askForVia() {
	vias := t.vias()
	personal := slices.ContainsFunc(t.columns, func(c domain.Column) bool { return c.Personal != nil })
	if len(vias) > 1 && personal && !t.paths[0].turned {
		t.ask("", "The rows are about several people: to which of them do the columns belong? (via)", vias[0], vias[1:]...)
	}
}

// since returns the time column from which a duty to keep the row counts, or nothing.
func (t *table) since() string {
	if _, ok := names.FindDuty(t.Name); !ok {
		return ""
	}
	best, bestRank := "", -1
	for _, c := range t.Columns {
		_, personal := t.found[c.Name]
		rank := names.Begins(c.Name)
		if c.Type != domain.TypeTime || personal || rank < 0 || c.Nullable && bestRank >= 0 {
			continue
		}
		if best == "" || rank < bestRank {
			best, bestRank = c.Name, rank
		}
	}
	return best
}

// askForDuty asks how long the records have to be kept.
func (t *table) askForDuty(since string) {
	if !slices.ContainsFunc(t.columns, isRetained) {
		return
	}
	if since == "" {
		t.ask("", "The records are kept for a duty, and no time column says since when: how long does it last?",
			"without end", "add a time column, and say retain and since")
		return
	}
	t.ask("", "How long must the records be kept, counted from "+since+"?", dutyLasts.String(), "8y", "6y")
}

func isRetained(c domain.Column) bool {
	return c.Personal != nil && c.Personal.Strategy == domain.StrategyRetain
}

// askForTypes asks about references of which a second column says to which table they lead.
func (t *table) askForTypes() {
	for _, c := range t.Columns {
		stem, ok := names.Stem(c.Name)
		if !ok || t.refers(c.Name) {
			continue
		}
		for _, kind := range t.Columns {
			base, isKind := cutSuffixFold(kind.Name, "type")
			if isKind && kind.Type == domain.TypeText && flat(base) == flat(stem) {
				t.ask(c.Name, "The column "+kind.Name+" seems to say to which table it refers: does it lead to a person in some "+
					"rows?", "no", "yes: add a relation with when and path")
			}
		}
	}
}

func cutSuffixFold(text, suffix string) (string, bool) {
	if len(text) > len(suffix) && strings.EqualFold(text[len(text)-len(suffix):], suffix) {
		return text[:len(text)-len(suffix)], true
	}
	return text, false
}
