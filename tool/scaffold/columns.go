package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// recognise finds the columns that look personal, in all tables.
func (d *draft) recognise() {
	for _, t := range d.tables {
		name := t.Name
		if t == d.subject && !names.IsPeople(name) || d.isExtension(t) {
			name = "people"
		}
		for _, c := range t.Columns {
			seen := c
			if names.IsFlag(c) {
				seen.Type = datamap.TypeBoolean
			}
			m, ok := d.memory.find(name, seen)
			if !ok && (t.isTree() || t.isAboutConduct()) {
				if text, isText := d.memory.find("replies", c); isText && isBody(text) {
					m, ok = text, true
				}
			}
			if !ok && (t.isNumberAtProvider(c) || t == d.subject && d.isElsewhere(c)) {
				m, ok = atProvider(c), true
			}
			isCode := m.Category == domain.CategoryCommunication && t.IsChoice(c) // such a column holds no free text
			if ok && !isCode && !t.refers(c.Name) {
				t.found[c.Name] = m
			}
		}
		t.dropStates(t == d.subject)
		t.findRendered()
	}
}

// isAboutConduct reports whether the name of the table suggests that its texts are about the conduct of a person.
func (t *table) isAboutConduct() bool {
	return slices.ContainsFunc([]names.Kind{names.Sanctions, names.Accusations, names.Blocks}, func(k names.Kind) bool {
		return names.Is(t.Name, k)
	})
}

// isTree reports whether rows of the table refer to each other, as replies and folders do.
func (t *table) isTree() bool {
	return slices.ContainsFunc(t.out, func(r *reference) bool { return r.to == t })
}

// hasReplies reports whether rows with a text that a person wrote refer to each other, so that other people may have
// replied to the person. Replies in parts of a person's rows, such as those to a post, are parts of the same row.
func (t *table) hasReplies() bool {
	return t.isTree() && t.parent().isSubject && slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		m, ok := t.found[c.Name]
		return ok && isBody(m)
	})
}

// isBody reports whether the name of a column certainly means a text that a person wrote.
func isBody(m names.Match) bool {
	return m.Category == domain.CategoryCommunication && slices.Contains(bodies, m.Word)
}

func (t *table) isReferredTo(column string) bool {
	return slices.ContainsFunc(t.in, func(r *reference) bool { return slices.Contains(r.referenced, column) })
}

// annotate creates the columns for the data map, with annotations, in each table that has a path to the subject's
// table.
func (d *draft) annotate(evaluate evaluate) {
	for _, t := range d.byDistance() {
		t.evaluate = evaluate
		since := t.since()
		if t.fate == left {
			since = ""
		}
		for _, c := range t.Columns {
			t.columns = append(t.columns, d.annotated(t, c, since))
		}
		if t.fate == left {
			d.askForTypes(t)
			continue
		}
		t.leaveRefused()
		t.askForStored()
		t.askForUnique()
		t.askForVia()
		t.askForDuty(since)
		d.askForTypes(t)
		t.askForEmptyDocuments()
		t.askForUnfound()
		t.askForInstants()
		t.askForTexts(d)
		t.askForCorrespondence()
		t.askForGiver()
	}
}

// annotated returns the column for the data map, with an annotation if the column looks personal. The parameter since
// is the time column with the start of a retention duty, or "".
func (d *draft) annotated(t *table, c datamap.CatalogColumn, since string) datamap.Column {
	column := datamap.Column{Name: c.Name, Type: c.Type, Note: t.referenceNote(c.Name)}
	if c.Type == datamap.TypeText {
		column.Length = c.Length
	}
	if t.fate == left {
		return column
	}
	m, ok := t.found[c.Name]
	if !ok && t.isOwnText(c) {
		m, ok = names.Match{Category: domain.CategoryCommunication, Word: c.Name, Means: "what the person entered"}, true
		t.found[c.Name] = m
	}
	isKey := slices.Contains(t.key, c.Name) || t.isReferredTo(c.Name) ||
		t == d.subject && slices.Contains(d.subjectID, c.Name)
	switch {
	case !ok && t.mayBeDocument(c) && !t.isCopied(c.Name) && !t.rowsDeleted && !isKey && !c.Generated && !t.refers(c.Name):
		t.ask(c.Name, "Do its JSON documents hold personal data?", "leave it as it is", "overwrite it")
		return column
	case !ok && t.rowsDeleted && (t.isDocumentOfPerson(c) || t.isValueOfAnswer(c)) && !isKey && !t.refers(c.Name):
		t.ask(c.Name, "The rows are deleted, but an export leaves its documents out. Do they hold personal data?",
			"no: leave them out", "yes: annotate the column")
		return column
	case !ok && t.repeatsTitle(c) && !t.rowsDeleted && !isKey && !c.Generated && !t.refers(c.Name):
		t.ask(c.Name, "It may repeat words that the person wrote, such as a title. Must an erasure overwrite it?", leaveIt,
			"overwrite it")
		return column
	case !ok && t.repeatsPlace(c) && !t.rowsDeleted && !isKey && !c.Generated && !t.refers(c.Name):
		t.ask(c.Name, "It may repeat the location in other columns. Must an erasure overwrite it?", leaveIt, "overwrite it")
		return column
	case !ok && t.mayBeOfAddress(c) && !t.rowsDeleted && !isKey && !c.Generated && !t.refers(c.Name):
		t.ask(c.Name, "It may be a part of the postal address in other columns. Must an erasure overwrite it?", leaveIt,
			"overwrite it")
		return column
	case !ok && t.isSubject && d.mayBeElsewhere(c):
		t.ask(c.Name, "It has no foreign key. Is it the id of the person in another system, or the key of another person?",
			leaveIt, "overwrite it", "add a relation")
		return column
	case !ok && d.twinOf(t, c) != nil:
		t.askForSecondPerson(c.Name, d.twinOf(t, c))
		return column
	case !ok && d.seemsPerson(t, c):
		t.askForSecondPerson(c.Name, d.subject)
		return column
	case !ok:
		return column
	default:
		column.Note = sentence(m.Reason())
	}
	if t.isOfDoer(c) {
		t.askForDoer(c.Name)
		return column
	}
	if !t.rowsDeleted && (isKey || c.Generated) {
		t.askForFixed(c, m, isKey)
		return column
	}
	if !t.rowsDeleted && (t.askForPlace(c, m) || t.askForLeftValue(c, m) || t.askForAuthor(c, m)) {
		return column
	}
	annotation := datamap.Annotation{Category: m.Category, Via: t.viaOf(c.Name)}
	switch {
	case m.Secret:
		annotation.Export = datamap.ExportNo
	case len(t.ofOthers()) > 0:
		annotation.Export = datamap.ExportNo
		column.Note += " An export does not show it, because the row may name other people."
	case words.IsSecret(c.Name):
		annotation.Export = datamap.ExportYes
	}
	if !t.rowsDeleted && !t.chooseStrategy(c, m, &column, &annotation, since) {
		return column
	}
	if column.Type == "" {
		column.Type = datamap.TypeText
	}
	column.Personal = &annotation
	if m.Category == domain.CategoryIdentity && isFile(c) {
		t.askForFile(c.Name)
	}
	return column
}

// mayBeDocument reports whether a column holds documents: JSON, an array of JSON, or hstore. A text column counts if it
// has the name of a document, such as metadata, and the rows are about one person. See also isDocumentOfPerson.
func (t *table) mayBeDocument(c datamap.CatalogColumn) bool {
	isList := c.Type == datamap.TypeArray && strings.Contains(c.Declared, "json")
	return c.Type == datamap.TypeJSON || isList || strings.Contains(c.Declared, "hstore") || t.isDocumentOfPerson(c) ||
		c.Type == datamap.TypeText && names.IsDocument(c.Name) && !t.IsChoice(c) && (t.isSubject || t.isProfile())
}

// isDocumentOfPerson reports whether a column holds a document of a table for documents, such as user_state and
// game_data: a JSON column, or a text column with the name of a document.
func (t *table) isDocumentOfPerson(c datamap.CatalogColumn) bool {
	parts := names.Words(t.base)
	isNamed := len(parts) > 1 && slices.Contains(ofDocuments, names.Singular(parts[len(parts)-1]))
	isText := c.Type == datamap.TypeText && !t.IsChoice(c) && !names.IsFlag(c) && c.Length == 0 &&
		(names.IsDocument(c.Name) || slices.Contains([]string{"state", "value", "document"}, flat(c.Name)))
	return isNamed && (isText || c.Type == datamap.TypeJSON)
}

// isValueOfAnswer reports whether a column holds what the person answered, as value does in form_answers.
func (t *table) isValueOfAnswer(c datamap.CatalogColumn) bool {
	return slices.Contains([]string{"answer", "response", "submission"}, lastWord(t.base)) &&
		slices.Contains([]string{"value", "values", "data", "response"}, flat(c.Name)) &&
		(c.Type == datamap.TypeJSON || c.Type == datamap.TypeText && !t.IsChoice(c))
}

// ofDocuments are the last words of the names of tables with a document in each row.
var ofDocuments = []string{"state", "data", "setting", "preference", "prefs", "config", "storage"}

// isReference reports whether the rows are about nobody, such as the states of a country. A state with documents, and
// the state of a login, are not among them.
func (t *table) isReference() bool {
	return names.Is(t.Name, names.Reference) && t.addressKey() == "" && !names.Is(t.Name, names.Sessions) &&
		!slices.ContainsFunc(t.Columns, t.isDocumentOfPerson)
}

// sentence converts a reason to a sentence.
func sentence(reason string) string { return strings.ToUpper(reason[:1]) + reason[1:] + "." }

// referenceNote returns a note about the reference that contains the column, or "". The note states that the reference
// is a guess, and whether the row belongs to the person that the reference leads to.
func (t *table) referenceNote(column string) string {
	for _, r := range t.out {
		if r.label() != column {
			continue
		}
		var notes []string
		if r.guessed {
			notes = append(notes, "It has no foreign key. Its name suggests that it refers to "+r.to.Name+".")
		}
		isPath := slices.Contains(t.paths, r)
		switch {
		case isPath && len(t.out) > 1:
			notes = append(notes, "The row belongs to the person that this reference leads to.")
		case !isPath && r.to.distance != unreachable && t.distance > 0 && r.to != t && !r.to.reversed:
			notes = append(notes, "It also leads to a person, but the proposal does not treat the row as that person's.")
		}
		if len(notes) > 0 {
			return strings.Join(notes, " ")
		}
	}
	return ""
}

// askForLeftValue asks whether an erasure must overwrite a column that looks personal, in rows that stay, if the value
// may be about other people or may protect more than the person. It reports whether the proposal leaves the value.
func (t *table) askForLeftValue(c datamap.CatalogColumn, m names.Match) bool {
	isText := m.Category == domain.CategoryCommunication
	switch {
	case !t.mayOverwrite(c, m) && t.isCopied(c.Name): // askForHistories asks about it
	case m.Secret && !t.mayOverwrite(c, m):
		t.ask(c.Name, "It looks like a secret, but the row stays. Does the secret belong to the person alone?",
			"no: leave it as it is", "yes: overwrite it")
	case !t.mayOverwrite(c, m), c.Type == datamap.TypeJSON && !t.isSubject && !isText,
		m.Part && !t.isSubject && !t.included && !names.Is(t.Name, names.Duties):
		t.ask(c.Name, "It looks personal ("+m.Means+"), but may describe other people, too. Must an erasure overwrite it?",
			"no: leave it as it is", "yes: overwrite it")
	case isParsed(c) && len(t.checksOf(c.Name)) == 0:
		t.ask(c.Name, "Programs parse such a value, so that they may refuse a meaningless one. Must an erasure "+
			"overwrite it?", "no: leave it as it is", "yes: overwrite it, with a surrogate that programs accept")
	default:
		return false
	}
	return true
}

// askForFixed asks about a column that looks personal but that an erasure cannot overwrite, because it is a key or
// computed.
func (t *table) askForFixed(c datamap.CatalogColumn, m names.Match, isKey bool) {
	if !isKey && t.isComputedFromFound(c) {
		return // it changes with the other column
	}
	if !isKey {
		t.ask(c.Name, "It looks personal and is computed from other columns. Does it change when these are overwritten?",
			"yes", "no: change the schema")
		return
	}
	t.ask(c.Name, "It looks personal ("+m.Means+"), but it is a key, which an erasure does not overwrite. May it stay?",
		"keep the value", "delete the rows", "give the table another key")
}

// isComputedFromFound reports whether the expression of a computed column mentions another column that looks personal.
func (t *table) isComputedFromFound(c datamap.CatalogColumn) bool {
	return slices.ContainsFunc(sqlToken.FindAllString(c.Expression, -1), func(token string) bool {
		name := strings.Trim(token, `"`)
		_, ok := t.found[name]
		return ok && name != c.Name
	})
}

// viaOf returns the Annotation.Via of a column: the name of the path to the person that the column belongs to. It
// returns the names of all paths if several people share a row, and "" if the table has one path.
func (t *table) viaOf(column string) string {
	vias := t.vias()
	if len(vias) < 2 {
		return ""
	}
	if t.reversed {
		return strings.Join(vias, ",")
	}
	for _, via := range vias {
		if strings.HasPrefix(flat(column), flat(via)) {
			return via
		}
	}
	return vias[0]
}

func flat(name string) string { return strings.Join(names.Words(name), "") }

// askForAuthor asks whether the person has written the text in a column, and reports whether the proposal leaves the
// text. It asks in two cases:
//
//   - The name of the column contains the name of a reference that is not a path. For example, the name
//     "original_comment_text" contains "comment", the name of the reference in "comment_id".
//   - The name begins with a word such as original.
func (t *table) askForAuthor(c datamap.CatalogColumn, m names.Match) bool {
	if m.Category != domain.CategoryCommunication || t.isSubject {
		return false
	}
	from := ""
	for _, r := range t.out {
		stem, _ := names.Stem(r.label())
		own := flat(stem) == "" || flat(c.Name) == flat(stem) || slices.Contains(t.paths, r)
		if !own && strings.Contains(flat(c.Name), flat(stem)) {
			from = " Was it written by the person that " + r.label() + " leads to?"
		}
	}
	if parts := names.Words(c.Name); from == "" && (len(parts) == 0 || !slices.Contains(copied, parts[0])) {
		return false
	}
	t.ask(c.Name, "The text seems to be a copy of another one."+from, "leave it as it is", "overwrite it",
		"mark the relation to its author as a path, and set via")
	return true
}

// copied are the first words of the names of columns that repeat a text.
var copied = []string{"original", "quoted", "copied", "embed", "embedded", "parent"}

// since returns the best time column from which a retention duty may count, or "".
func (t *table) since() string {
	if _, ok := names.FindDuty(t.Name); !ok {
		return ""
	}
	best, bestRank := "", -1
	for _, c := range t.Columns {
		_, personal := t.found[c.Name]
		rank := names.Begins(c.Name)
		if c.Type != datamap.TypeTime || personal || rank < 0 || c.Nullable && bestRank >= 0 {
			continue
		}
		if best == "" || rank < bestRank {
			best, bestRank = c.Name, rank
		}
	}
	return best
}

// askForDuty asks how long the rows must be kept by law. The parameter since is the column with the start of this
// period, or "".
func (t *table) askForDuty(since string) {
	if !slices.ContainsFunc(t.columns, isRetained) {
		return
	}
	if since == "" {
		t.ask("", "The rows must be kept by law, but no time column shows the start of the period. How long is the "+
			"period?", "without end", "add a time column, and set retain and since")
		return
	}
	t.ask("", "How long must the records be kept, counted from the end of the year of "+since+"?", dutyLasts.String(),
		"8y", "6y")
}

func isRetained(c datamap.Column) bool {
	return c.Personal != nil && c.Personal.Strategy == domain.StrategyRetain
}

func cutSuffixFold(text, suffix string) (string, bool) {
	if len(text) > len(suffix) && strings.EqualFold(text[len(text)-len(suffix):], suffix) {
		return text[:len(text)-len(suffix)], true
	}
	return text, false
}
