package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkRefs reports columns in which a person could write a key of another person's object in an external system (see
// datamap.Annotation.Ref). An erasure of the first person would then erase the object of the other person. The database
// prevents this in two ways:
//
//   - The column is unique, and it is the only column with keys of this system.
//   - A CHECK constraint compares the column with a column that names the person. It can require a prefix.
func (s *schema) checkRefs() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		for _, column := range table.Personal() {
			if _, ok := live.Column(column.Name); column.Personal.Ref == "" || !ok || !isTable(live) ||
				s.isBound(table, live, column) {
				continue
			}
			reason := "The database accepts a key that a row of another person holds, too."
			if isUnique(live, []string{column.Name}) {
				reason = "The column is unique, but other columns also hold keys of " + column.Personal.Ref + "."
			}
			s.report("ref-shared", place{table: table.Name, column: column.Name},
				reason+" If people can write the column, a person can have the object of another person erased.")
		}
	})
}

// isBound reports whether the database binds the keys in the column to one person.
func (s *schema) isBound(table datamap.Table, live datamap.CatalogTable, column datamap.Column) bool {
	alone := true
	for _, other := range s.Declared() {
		for _, holder := range other.RefColumns(column.Personal.Ref) {
			alone = alone && other.Name == table.Name && holder.Name == column.Name
		}
	}
	if alone && isUnique(live, []string{column.Name}) {
		return true
	}
	var owners []string
	for _, path := range s.Paths(table.Name) {
		if len(path.Relations) == 0 {
			owners = append(owners, table.SubjectKey...)
		} else {
			owners = append(owners, path.Relations[0].Columns...)
		}
	}
	return slices.ContainsFunc(live.Checks, func(c datamap.CatalogCheck) bool {
		return hasName(live, c.Columns, column.Name) && slices.ContainsFunc(owners, func(owner string) bool {
			return hasName(live, c.Columns, owner)
		})
	})
}
