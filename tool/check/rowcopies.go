package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
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
	isHistory, isLog, several := hasWord(table.Name, ofHistories...), hasWord(table.Name, ofLogs...), isOfSeveral(table)
	_, isNamed := s.originalOf(table)
	old := versionOf(table)
	for _, column := range table.Columns {
		isLong := column.Type == datamap.TypeText && (column.Length == 0 || column.Length > shortText) ||
			column.Type == datamap.TypeBytes
		isWord := (isHistory || isLog) && hasWord(column.Name, ofRows...) ||
			isHistory && hasWord(column.Name, ofContents...) || several && isLog && hasWord(column.Name, ofParameters...)
		if column.Name == old || isWord && (isDocument(column) || isLong && (several || isNamed)) &&
			!table.IsChoice(column) && !names.Describes(column.Name) && !inForeignKey(table, column.Name) {
			found = append(found, column.Name)
		}
	}
	return found
}

// isOfThing reports whether a table is the history of one table that seems to hold no personal data.
func (s *schema) isOfThing(history datamap.CatalogTable) bool {
	original, isNamed := s.originalOf(history)
	return isNamed && !isOfSeveral(history) && s.isImpersonal(original)
}

// isHistoryOfThing reports whether a table is the history of one table that seems to hold no personal data, and does
// not say who changed a row.
func (s *schema) isHistoryOfThing(history datamap.CatalogTable) bool {
	return s.isOfThing(history) && !slices.ContainsFunc(history.Columns, func(c datamap.CatalogColumn) bool {
		return names.MeansPerson(c.Name) || names.Acts(c.Name) || hasWord(c.Name, "by", "whodunnit", "actor", "user")
	})
}

// isOfSeveral reports whether a table has the key of a row of one of several tables, and the name of this table, such
// as item_id and item_type.
func isOfSeveral(table datamap.CatalogTable) bool {
	return slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
		stem, isReference := names.Stem(c.Name)
		return isReference && slices.ContainsFunc(table.Columns, func(other datamap.CatalogColumn) bool {
			parts := words.Lower(other.Name)
			return len(parts) > 1 && slices.Contains(typeWords, parts[len(parts)-1]) &&
				names.Same(strings.Join(parts[:len(parts)-1], " "), stem)
		})
	})
}

// originalOf returns the table after which a history is named, as plan_versions is after plans.
func (s *schema) originalOf(history datamap.CatalogTable) (datamap.CatalogTable, bool) {
	parts := words.Lower(names.BaseName(history.Name))
	of := strings.Join(slices.DeleteFunc(slices.Clone(parts), func(word string) bool {
		return slices.Contains(ofHistories, word)
	}), " ")
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

// ofHistories and ofLogs are words in the names of tables that hold changes of rows. The documents of a log may also
// tell other things.
var (
	ofHistories = terms(`
		version, versions, revision, revisions, audit, audits, audited, history, histories, changelog, changelogs, changeset,
		changesets, changes, snapshot, snapshots, archive, archives, archived, shadow`)
	ofLogs = terms("log, logs, activity, activities, trail, trails, journal, journals")
)

// ofRows, ofContents and ofParameters are words in the names of columns with the content of a row. The words of
// ofContents mean it only in a history, and those of ofParameters only in a log about rows of several tables.
var (
	ofRows = terms(`
		object, changes, changed, changeset, diff, delta, old, new, before, after, previous, prev, snapshot, row, record,
		modifications, values`)
	ofContents   = terms("data, payload, content, contents, attributes, fields, body, document, entity")
	ofParameters = terms("parameters, params, data, details, properties")
)

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
	open := slices.DeleteFunc(s.rowCopies(live), func(name string) bool {
		column, mapped := live.Mapped(table, name)
		asked, isOpen := s.asksAboutColumn(table, column)
		isKept := mapped || !s.reported(table.Name, columnUnmapped) || s.mayKeepRows(table)
		found, _ := live.Column(name)
		_, named := soundsPersonal(table.Name, live, found) // checkNames reports it
		return column.Personal != nil || column.NotPersonal || asked && !isOpen || !isKept || named ||
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
