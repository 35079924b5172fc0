package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// copyOf returns the first of the columns with copies of rows, see rowCopies. It returns "" if there is none.
func (s *schema) copyOf(table datamap.CatalogTable) string {
	for _, name := range s.rowCopies(table) {
		return name
	}
	return ""
}

// rowCopies returns the columns in which a history seems to hold the rows of other tables before or after a change, in
// documents such as object_changes. It returns nil if the table is no history, or the history of a table without
// personal data, as plan_versions is for plans.
func (s *schema) rowCopies(table datamap.CatalogTable) (found []string) {
	if s.isOfThing(table) {
		return nil
	}
	_, isNamed := s.originalOf(table)
	old := versionOf(table)
	copies := names.RowCopies(table, isNamed || names.IsOfSeveral(table))
	for _, column := range table.Columns {
		if (column.Name == old || slices.Contains(copies, column.Name)) && !inForeignKey(table, column.Name) {
			found = append(found, column.Name)
		}
	}
	return found
}

// isOfThing reports whether a table is the history of one table that seems to hold no personal data.
func (s *schema) isOfThing(history datamap.CatalogTable) bool {
	original, isNamed := s.originalOf(history)
	return isNamed && !names.IsOfSeveral(history) && s.isImpersonal(original)
}

// isHistoryOfThing reports whether a table is the history of one table that seems to hold no personal data, and does
// not say who changed a row.
func (s *schema) isHistoryOfThing(history datamap.CatalogTable) bool {
	return s.isOfThing(history) && !slices.ContainsFunc(history.Columns, func(c datamap.CatalogColumn) bool {
		return names.MeansPerson(c.Name) || names.Acts(c.Name) || hasWord(c.Name, "by", "whodunnit", "actor", "user")
	})
}

// originalOf returns the table after which a history is named, as plan_versions is after plans.
func (s *schema) originalOf(history datamap.CatalogTable) (datamap.CatalogTable, bool) {
	parts := names.Words(names.BaseName(history.Name))
	of := strings.Join(slices.DeleteFunc(slices.Clone(parts), names.IsHistoryName), " ")
	if len(of) == len(strings.Join(parts, " ")) {
		return datamap.CatalogTable{}, false
	}
	i := slices.IndexFunc(s.catalog.Tables, func(t datamap.CatalogTable) bool {
		return of != "" && t.Name != history.Name && names.Same(of, names.BaseName(t.Name))
	})
	if i < 0 {
		return datamap.CatalogTable{}, false
	}
	return s.catalog.Tables[i], true
}

// isImpersonal reports whether a table seems to hold no personal data: a person has decided that it stays out of the
// data map, or no column is annotated or looks personal. The name that a table of things shows, such as the
// display_name of a tutorial, does not count.
func (s *schema) isImpersonal(table datamap.CatalogTable) bool {
	mapped, isMapped := s.mapped[table.Name]
	if names.IsPeople(table.Name) || len(mapped.Personal()) > 0 || mapped.Owned {
		return false
	}
	return !isMapped && s.isDecided(table.Name) || !slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
		found, ok := soundsPersonal(table.Name, table, c)
		return ok && !slices.Contains(ofShownNames, found.word)
	})
}

// ofShownNames are words for the name that an application shows, of a thing or of a person.
var ofShownNames = terms("display name, displayname, full name, fullname")

// copiesSentence returns a sentence that names the documents in which a table seems to hold the rows of other tables.
// It returns "" if there are none.
func (s *schema) copiesSentence(table datamap.CatalogTable) string {
	found := s.rowCopies(table)
	if len(found) == 0 {
		return ""
	}
	return " The documents in " + list(found) + " seem to be copies of rows of other tables, which an erasure of those " +
		"rows leaves as they are."
}

// reportRowCopies reports the documents of a table of the data map that seem to hold the rows of other tables, if they
// are not annotated and no question about them has an answer. There is one finding for each table.
func (s *schema) reportRowCopies(table datamap.Table, live datamap.CatalogTable) {
	isAnswered := func(name string) bool { // the question about one column may name others
		return slices.ContainsFunc(table.Columns, func(c datamap.Column) bool {
			return slices.ContainsFunc(questionsIn(c.Note), func(q question) bool {
				return q.decided && slices.Contains(q.words, name)
			})
		})
	}
	open := slices.DeleteFunc(s.rowCopies(live), func(name string) bool {
		column, mapped := live.Mapped(table, name)
		asked, isOpen := s.asksAboutColumn(table, column)
		isKept := mapped || !s.reported(table.Name, columnUnmapped) || s.mayKeepRows(table)
		found, _ := live.Column(name)
		_, named := soundsPersonal(table.Name, live, found) // checkNames reports it
		return column.Personal != nil || column.NotPersonal || asked && !isOpen || isAnswered(name) || !isKept || named ||
			hasName(live, live.PrimaryKey, name)
	})
	if len(open) == 0 {
		return
	}
	column, _ := live.Mapped(table, open[0])
	at := place{table: table.Name, column: open[0]}
	if column.Name != "" {
		at.column = column.Name
	}
	s.reportColumn(column, personalUnannotated, at,
		"The documents in "+list(open)+" are not annotated, but seem to be copies of rows of other tables. An erasure of "+
			"those rows leaves them as they are.",
		"Annotate the columns, or clear the copies in the hook BeforeErasure and accept the finding. If they hold no "+
			"personal data, "+s.declareNone())
}
