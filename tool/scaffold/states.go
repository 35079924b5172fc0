package scaffold

import (
	"slices"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// dropStates drops the guess that a column such as state holds a part of a postal address, if it seems to hold a status
// or a document: see isStatus. In the subject's table, a word before state may tell, such as subscription.
func (t *table) dropStates(isSubject bool) {
	for _, c := range t.Columns {
		isStatus := t.isStatus(c) || isSubject && names.IsStatus(c.Name)
		if m := t.found[c.Name]; m.Category == domain.CategoryContact && m.Word == "state" && isStatus {
			delete(t.found, c.Name)
		}
	}
}

// isStatus reports whether a column that is named like the state of an address holds a status. Its type, its values or
// its default tell, or the table has no other part of an address.
func (t *table) isStatus(c datamap.CatalogColumn) bool {
	isWord := strings.ContainsFunc(c.Initial, unicode.IsLower) && strings.ToLower(c.Initial) == c.Initial
	return c.Type != datamap.TypeText || isWord || t.IsChoice(c) ||
		!slices.ContainsFunc(t.Columns, func(other datamap.CatalogColumn) bool {
			m, ok := t.found[other.Name]
			return ok && other.Name != c.Name && m.Category == domain.CategoryContact && m.Means == names.Address
		})
}

// findRendered finds the texts that repeat a text that a person wrote in another form, such as rendered beside content.
func (t *table) findRendered() {
	i := slices.IndexFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		m, ok := t.found[c.Name]
		return ok && isBody(m) && c.Type == datamap.TypeText
	})
	if i < 0 {
		return
	}
	for _, c := range t.Columns {
		_, ok := t.found[c.Name]
		if !ok && c.Type == datamap.TypeText && isRendered(c.Name) && !t.IsChoice(c) && !names.IsFlag(c) &&
			!t.refers(c.Name) {
			m := t.found[t.Columns[i].Name]
			m.Word, m.Means = strings.Join(names.Words(c.Name), " "), "the text in "+t.Columns[i].Name+" in another form"
			t.found[c.Name] = m
		}
	}
}

// isRendered reports whether the name of a column consists of words for a text in another form, such as html_rendered.
func isRendered(column string) bool {
	parts := names.Words(column)
	isOther := func(word string) bool { return !slices.Contains(rendered, word) }
	return len(parts) > 0 && !slices.ContainsFunc(parts, isOther)
}

var rendered = strings.Fields(`
	render rendered html xhtml markup parsed compiled formatted cooked plain plaintext markdown md`)

// isParsed reports whether programs parse the value of a text column, such as a language or a time zone.
func isParsed(c datamap.CatalogColumn) bool {
	parts := names.Words(c.Name)
	for len(parts) > 1 && slices.Contains([]string{"code", "name", "pref", "preference"}, parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	name := strings.Join(parts, " ")
	return c.Type == datamap.TypeText && len(c.Values) == 0 && slices.ContainsFunc([]string{
		"locale", "language", "languages", "lang", "time zone", "timezone", "tz", "sprache", "langue", "idioma",
	}, func(word string) bool { return name == word || strings.HasSuffix(name, " "+word) })
}
