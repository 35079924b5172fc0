package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// plain returns the column for the data map, without an annotation.
func plain(c datamap.CatalogColumn) datamap.Column {
	column := datamap.Column{Name: c.Name, Type: c.Type}
	if c.Type == datamap.TypeText {
		column.Length = c.Length
	}
	return column
}

func plainColumns(t *table) []datamap.Column {
	columns := make([]datamap.Column, 0, len(t.Columns))
	for _, c := range t.Columns {
		columns = append(columns, plain(c))
	}
	return columns
}

// annotated returns the column for the data map with an annotation of the category.
func annotated(c datamap.CatalogColumn, category domain.Category) datamap.Column {
	column := plain(c)
	column.Personal = &datamap.Annotation{Category: category, Strategy: domain.StrategyErase}
	if column.Type == "" {
		column.Type = datamap.TypeText
	}
	entry, _ := dictionary.Person(c.Name, c.Type)
	if entry.Secret || c.Type != datamap.TypeTime && words.IsSecret(c.Name) {
		column.Personal.Export = datamap.ExportNo
	}
	return column
}

// identifies reports whether a column identifies or links rows, so that an erasure cannot overwrite it.
func (d *draft) identifies(t *table, c datamap.CatalogColumn) bool {
	if slices.Contains(t.key, c.Name) || slices.Contains(t.PrimaryKey, c.Name) || d.isReferred(t, c.Name) ||
		t == d.subject && slices.Contains(d.subjectID, c.Name) {
		return true
	}
	return slices.ContainsFunc(d.References(t.CatalogTable), func(l facts.Link) bool {
		return l.Likely && (slices.Contains(l.Columns, c.Name) || l.When != nil && l.When.Column == c.Name)
	})
}

// isReferred reports whether a foreign key, or a column that names the table, refers to the column.
func (d *draft) isReferred(t *table, column string) bool {
	return slices.ContainsFunc(d.tables, func(other *table) bool {
		return slices.ContainsFunc(d.References(other.CatalogTable), func(l facts.Link) bool {
			return l.References == t.Name && slices.Contains(l.Referenced, column)
		})
	})
}

// categoryOf returns the category of a column that an option annotates: what the dictionary says, and communication for
// other free texts and documents. ok is false for other columns.
func (d *draft) categoryOf(t *table, c datamap.CatalogColumn) (category domain.Category, ok bool) {
	if t == d.subject {
		entry, ok := dictionary.Person(c.Name, c.Type)
		return entry.Category, ok
	}
	if entry, ok := dictionary.Column(c.Name, c.Type); ok {
		return entry.Category, true
	}
	return domain.CategoryCommunication, isFree(t, c)
}

// isFree reports whether a column holds texts or documents of any content. A short text, or one with a constant
// default, is more often a code that the application needs.
func isFree(t *table, c datamap.CatalogColumn) bool {
	const short = 40
	isShort := c.Type == datamap.TypeText && c.Length > 0 && c.Length < short
	return c.Type != "" && facts.IsText(t.CatalogTable, c) && !isShort && c.Initial == "" && !words.IsSecret(c.Name)
}

// overwrites returns the annotated columns of rows that an erasure overwrites, with surrogates that the constraints of
// the table allow.
func (d *draft) overwrites(t *table) []datamap.Column {
	if t.isRead {
		return t.overwritten
	}
	t.isRead = true
	for _, c := range t.Columns {
		_, ok := d.categoryOf(t, c)
		t.found[c.Name] = ok && !c.Generated && !c.Identity && !d.identifies(t, c)
	}
	for _, c := range t.Columns {
		if category, _ := d.categoryOf(t, c); t.found[c.Name] {
			column := annotated(c, category)
			if t.found[c.Name] = t.overwrite(c, &column); t.found[c.Name] {
				t.overwritten = append(t.overwritten, column)
			}
		}
	}
	t.dropRefused()
	return t.overwritten
}

// identifying returns the columns that an erasure overwrites in rows that stay without the person, such as her email.
// What she wrote stays. If the rows may be about other people, too, a column may be theirs.
func (d *draft) identifying(t *table) []datamap.Column {
	people := 0
	for _, l := range t.links {
		if people += rankOf(l.Plausible()); l.Plausible() && l.References != d.subject.Name {
			people++
		}
	}
	return slices.DeleteFunc(slices.Clone(d.overwrites(t)), func(c datamap.Column) bool {
		return people > 1 || c.Personal.Category == domain.CategoryCommunication
	})
}

// deletes returns the annotated columns of rows that an erasure deletes. The export shows all that the row says about
// the person.
func (d *draft) deletes(t *table) (columns []datamap.Column) {
	for _, c := range t.Columns {
		category, ok := d.categoryOf(t, c)
		entry, _ := dictionary.Column(c.Name, c.Type)
		isSecret := entry.Secret || c.Type != datamap.TypeTime && words.IsSecret(c.Name)
		switch {
		case c.Generated, d.identifies(t, c) && !isSecret, !ok && d.CouldHoldKey(t.CatalogTable, c):
			continue
		case !ok:
			category = domain.CategoryBehavioral
		}
		columns = append(columns, annotated(c, category))
	}
	return columns
}

// keeps returns the annotated columns of rows that a legal duty keeps. A person states the duty later.
func (d *draft) keeps(t *table) (columns []datamap.Column) {
	for _, c := range t.Columns {
		if category, ok := d.categoryOf(t, c); ok && !c.Generated && !d.identifies(t, c) {
			column := annotated(c, category)
			column.Personal.Strategy, column.Personal.Reason = domain.StrategyRetain, ReasonNotStated
			columns = append(columns, column)
		}
	}
	return columns
}

// ReasonNotStated is the reason of the columns that an option keeps, until a person states the legal duty.
const ReasonNotStated = "not stated"

// withColumns returns all columns of the table, with the annotated ones in their places.
func withColumns(t *table, annotated []datamap.Column) []datamap.Column {
	columns := plainColumns(t)
	for i, c := range columns {
		if j := slices.IndexFunc(annotated, func(a datamap.Column) bool { return a.Name == c.Name }); j >= 0 {
			annotation := *annotated[j].Personal
			columns[i] = annotated[j]
			columns[i].Personal = &annotation
		}
	}
	return columns
}
