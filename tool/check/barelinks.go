package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isBareLink reports whether the rows of a table refer to rows that stay after an erasure and are not people, and hold
// nothing else than references, numbers, instants, and texts that describe the row, such as its type.
func (s *schema) isBareLink(table datamap.CatalogTable, found link) bool {
	return s.isKeptThing(found.to) && s.personalSentence(table) == "" && !isOfOnePerson(table.Name) &&
		!slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
			stem, isReference := names.Stem(c.Name)
			switch family(c.Type) { //nolint:exhaustive // the other types hold numbers, instants and keys
			case datamap.TypeText, datamap.TypeJSON, datamap.TypeBytes, datamap.TypeArray, "":
				return !names.IsTechnical(c.Name) && !table.IsChoice(c)
			}
			return isReference && isPerson(stem)
		})
}

// isLinkToReference reports whether the rows of a table only connect rows that stay after an erasure, and are no row of
// the subject's table, with rows of tables outside the data map, such as the kinds of contacts. They hold nothing else
// than these references and instants.
func (s *schema) isLinkToReference(table datamap.CatalogTable) bool {
	toKept, toOther := false, false
	for _, column := range table.Columns {
		found, parent := s.parentOf(table, column)
		mapped, isMapped := s.mappedTable(parent)
		switch {
		case found && isMapped:
			if mapped.Name == s.SubjectTable().Name || s.deletesRows(mapped.Name) || s.isOfEachPerson(mapped.Name) {
				return false
			}
			toKept = true
		case found:
			if names.IsPeople(parent) {
				return false
			}
			toOther = true
		case column.Type != datamap.TypeTime && !hasName(table, table.PrimaryKey, column.Name):
			return false
		}
	}
	return toKept && toOther
}

// parentOf returns the table to which a column refers by a foreign key, or after which it is named.
func (s *schema) parentOf(table datamap.CatalogTable, column datamap.CatalogColumn) (found bool, parent string) {
	for _, foreign := range table.ForeignKeys {
		if hasName(table, foreign.Columns, column.Name) {
			return true, foreign.References
		}
	}
	stem, isReference := names.Stem(column.Name)
	i := slices.IndexFunc(s.catalog.Tables, func(other datamap.CatalogTable) bool {
		return isReference && other.Name != table.Name && names.Same(stem, names.BaseName(other.Name))
	})
	if i < 0 {
		return false, ""
	}
	return true, s.catalog.Tables[i].Name
}
