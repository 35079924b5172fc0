package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// askForTexts asks, once for each table whose rows stay, about the texts, bytes and arrays whose names show nothing.
// They may be the person's, such as the body of an essay or the state of an extension.
func (t *table) askForTexts(d *draft) {
	isOther := func(c datamap.CatalogColumn) bool { return names.IsTechnical(c.Name) && !d.mayBeOutside(t, c) }
	list, what := t.unnamedBut(isOther, datamap.TypeText, datamap.TypeBytes, datamap.TypeArray), "texts"
	switch hasBytes := len(t.unnamedBut(isOther, datamap.TypeBytes)) > 0; {
	case len(t.unnamedBut(isOther, datamap.TypeArray)) > 0 && hasBytes:
		what = "texts, bytes and arrays"
	case len(t.unnamedBut(isOther, datamap.TypeArray)) > 0:
		what = "texts and arrays"
	case hasBytes:
		what = "texts and bytes"
	}
	if !t.rowsDeleted && len(list) > 0 {
		t.ask("", "Do further "+what+" hold personal data ("+strings.Join(list, ", ")+")?", "no: leave them as they are",
			"yes: annotate them")
	}
}

// texts returns the text columns of unnamed.
func (t *table) texts() []string { return t.unnamed(datamap.TypeText) }

// unnamed returns the columns of the types without an annotation and without a question, unless their names show that
// they hold nothing of a person.
func (t *table) unnamed(types ...datamap.ColumnType) []string {
	return t.unnamedBut(func(c datamap.CatalogColumn) bool { return names.IsTechnical(c.Name) }, types...)
}

// unnamedBut returns the columns as unnamed does, but isOther tells whether a name shows that.
func (t *table) unnamedBut(isOther func(datamap.CatalogColumn) bool, types ...datamap.ColumnType) []string {
	const shortest = 8
	var list []string
	for _, c := range t.Columns {
		_, isFound := t.found[c.Name]
		isAsked := slices.ContainsFunc(t.asked, func(d Decision) bool { return d.Column == c.Name })
		if slices.Contains(types, c.Type) && !isFound && !isAsked && !c.Generated && !t.refers(c.Name) &&
			!slices.Contains(t.key, c.Name) && !t.isReferredTo(c.Name) && !isFixed(c) && !t.IsChoice(c) &&
			!names.IsFlag(c) && !names.MayBeInstant(c.Name, c.Type) &&
			(c.Length == 0 || c.Length >= shortest) && !isOther(c) {
			list = append(list, c.Name)
		}
	}
	return list
}

// askForEmptyDocuments asks about the JSON documents of rows that stay, in whose place an erasure writes the empty
// document. A program that expects a member of the document may fail, and not show rows of other people next to it. The
// document in the row of the person is read alone.
func (t *table) askForEmptyDocuments() {
	var list []string
	for _, c := range t.columns {
		if c.Personal != nil && c.Personal.Strategy == domain.StrategyAnonymize && c.Type == datamap.TypeJSON &&
			c.Surrogate == "" {
			list = append(list, c.Name)
		}
	}
	if !t.rowsDeleted && !t.isSubject && len(list) > 0 {
		t.ask("", "An erasure writes the empty document {} ("+strings.Join(list, ", ")+"). Can every program that reads it "+
			"read that?", "yes", "no: overwrite the documents in the hook BeforeErasure")
	}
}

// askForUnfound asks about rows of the data map that no erasure finds: see unfound.
func (t *table) askForUnfound() {
	if unfound := t.unfound(); unfound != "" {
		t.ask("", unfound+". Must an erasure reach these rows, too?", "no",
			"yes: add a relation by another column, or erase them in the hook BeforeErasure")
	}
}

// unfound returns a sentence without a full stop about rows with an email address of their own, but without their
// person, because the only reference to her is NULL. It returns "" if there can be none.
func (t *table) unfound() string {
	if len(t.paths) != 1 || !t.paths[0].to.isSubject || !t.paths[0].nullable() {
		return ""
	}
	i := slices.IndexFunc(t.Columns, func(c datamap.CatalogColumn) bool { return t.found[c.Name].Means == names.Email })
	if i < 0 {
		return ""
	}
	return "No erasure finds the rows in which " + t.paths[0].label() + " is NULL, although their " + t.Columns[i].Name +
		" may name a person"
}
