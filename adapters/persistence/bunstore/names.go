package bunstore

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// checkNames returns domain.ErrManifest if two tables of the data map, or two columns of a table, have the same name
// for the database. PostgreSQL cuts names after 63 bytes, and SQLite ignores case. A statement on one of them would
// then read and write the other one.
func checkNames(d sqltext.Dialect, m datamap.DataMap) error {
	var problems []domain.Problem
	report := func(table, column, other string) {
		problems = append(problems, domain.Problem{
			Table: table, Column: column, Message: "has the same name as " + other + " for the database, which cuts long" +
				" names or ignores case", Remedy: "give the two different names in the database and in the data map",
		})
	}
	tables := m.Declared()
	for i, table := range tables {
		for _, other := range tables[:i] {
			if isSameTable(d, table.Name, other.Name) {
				report(table.Name, "", other.Name)
			}
		}
		for j, column := range table.Columns {
			for _, other := range table.Columns[:j] {
				if d.SameName(column.Name, other.Name) {
					report(table.Name, column.Name, other.Name)
				}
			}
		}
	}
	return domain.ManifestError("bunstore", problems)
}

func isSameTable(d sqltext.Dialect, a, b string) bool {
	schemaA, nameA, qualifiedA := strings.Cut(a, ".")
	schemaB, nameB, qualifiedB := strings.Cut(b, ".")
	if !qualifiedA || !qualifiedB {
		return qualifiedA == qualifiedB && d.SameName(a, b)
	}
	return d.SameName(schemaA, schemaB) && d.SameName(nameA, nameB)
}
