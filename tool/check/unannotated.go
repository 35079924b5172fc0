package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check/internal/triggers"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// wouldAnnotate reports whether a draft would annotate a column of rows that stay, although its name does not clearly
// suggest personal data. The parameter name is that of the table, or users for the subject's table. A name that may as
// well describe a thing, such as title, counts only in the subject's table. wouldAnnotate returns false for secrets of
// other tables, for records, and for logs, in which most columns must stay.
func (s *schema) wouldAnnotate(
	name string, table datamap.Table, live datamap.CatalogTable, column datamap.CatalogColumn,
) (guess, bool) {
	if names.IsFlag(column) {
		column.Type = datamap.TypeBoolean
	}
	isSubject := table.Name == s.SubjectTable().Name
	match, ok := names.Find(name, column.Name, column.Type)
	isText := match.Category == domain.CategoryCommunication
	isWritten := isText && names.Is(name, names.Messages)
	isDescribed := names.IsTechnical(column.Name) && !match.Secret && column.Type == datamap.TypeText
	if !ok && column.Type == datamap.TypeJSON && len(table.Personal()) > 0 && slices.Contains(ofRow, column.Name) {
		match = names.Match{Category: domain.CategoryCommunication, Word: column.Name, Means: "a document about the row"}
		ok, isText = true, true
	}
	switch {
	case !ok, !s.mayKeepRows(table), column.Type == datamap.TypeBoolean, inForeignKey(live, column.Name),
		isText && live.IsChoice(column), match.Word == "state", isDescribed, isNameOfThing(match, column),
		!isSubject && (match.Secret || slices.Contains(vague, match.Word) && !isWritten ||
			column.Type == datamap.TypeJSON && !isText || isOfThing(name, match.Word)),
		names.Is(name, names.Duties), names.Is(name, names.Trails), names.Is(name, names.Activities):
		return guess{}, false
	}
	return guess{match.Category, match.Reason(), match.Means, match.Secret, match.Word}, true
}

// ofRow are names of JSON columns with a document about the row as a whole, which may be about its person.
var ofRow = terms("metadata, meta, extra, extras")

// isNameOfThing reports whether a column has the name of a thing beside the person, such as plan_name and file_name.
func isNameOfThing(match names.Match, column datamap.CatalogColumn) bool {
	before, isName := strings.CutSuffix(strings.Join(names.Words(column.Name), "_"), "_"+match.Word)
	return isName && slices.Contains(alone, match.Word) && slices.ContainsFunc(
		[]names.Kind{names.Things, names.Media, names.Reference, names.Machinery, names.Messages},
		func(k names.Kind) bool { return names.Is(before, k) },
	)
}

// checkUnknown reports, in one finding for each table, the texts, bytes and documents that the data map does not have,
// in rows that an erasure keeps. It leaves out a column that has a finding of its own, one that a trigger fills, for
// which there are other rules, and one that holds nothing of a person by its name.
func (s *schema) checkUnknown() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if !isTable(live) || !s.mayKeepRows(table) || s.reported(table.Name, columnUnmapped) {
			return
		}
		unknown := slices.DeleteFunc(live.Unmapped(table), func(name string) bool {
			column, _ := live.Column(name)
			isFound := slices.ContainsFunc(s.findings, func(f datamap.Finding) bool {
				return f.Table == table.Name && f.Column == name
			})
			isAsked := slices.ContainsFunc(questionsIn(table.Note), func(q question) bool { return q.names(name) })
			return isFound || isAsked || !s.mayHoldText(live, column) || s.isFilled(live, name)
		})
		if len(unknown) > 0 {
			s.report(columnUnknown, place{table: table.Name, column: list(unknown)},
				"The columns are not in the data map, and their names do not show whether they hold personal data. Exports and "+
					"erasures ignore them.",
				"Add the columns to the data map, with annotations, or as columns without personal data ("+
					s.says(`pii:"none"`, `"not_personal": true`)+").")
		}
	})
}

func (s *schema) isFilled(live datamap.CatalogTable, column string) bool {
	return slices.ContainsFunc(s.triggers[live.Name], func(t trigger) bool {
		return slices.ContainsFunc(t.Sets, func(set triggers.Assignment) bool { return sameName(live, set.Column, column) })
	})
}

// mayHoldText reports whether a column can hold what a person wrote, or a document about a person.
func (s *schema) mayHoldText(live datamap.CatalogTable, column datamap.CatalogColumn) bool {
	switch column.Type { //nolint:exhaustive // the other types hold numbers, instants and keys
	case datamap.TypeText, datamap.TypeBytes, datamap.TypeJSON, datamap.TypeArray:
	case "":
		if column.Declared != "xml" && column.Declared != "hstore" {
			return false
		}
	default:
		return false
	}
	const shortest = 8
	return column.Values == nil && (column.Length == 0 || column.Length >= shortest) && !live.IsChoice(column) &&
		!names.IsFlag(column) && !names.MayBeInstant(column.Name, column.Type) && !names.IsTechnical(column.Name) &&
		!inForeignKey(live, column.Name) && !hasName(live, live.PrimaryKey, column.Name) && !s.namesTable(live, column)
}
