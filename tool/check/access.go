package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkAccess reports privileges that the connection lacks, and tables whose row-level security may hide rows from the
// connection.
func (s *schema) checkAccess() {
	s.checkBypassed()
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if !s.needed[table.Name] {
			return
		}
		if live.RowSecurity && !s.catalog.TrustsRowFilters {
			s.report("row-security", place{table: table.Name})
		}
		for _, privilege := range s.privileges(table) {
			if slices.Contains(live.Missing, privilege) {
				s.report("privilege-missing", place{table: table.Name, object: privilege},
					"The connection lacks the privilege "+privilege+". Every erasure fails.",
					"Grant "+privilege+" on the table to the role of the connection.")
			}
		}
		s.checkColumnPrivileges(table, live)
	})
}

// checkBypassed reports, in one notice, the tables of the data map with row-level security that does not apply to the
// connection, because its role owns the tables or bypasses the policies.
func (s *schema) checkBypassed() {
	var tables []string
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if s.needed[table.Name] && live.Secured && !live.RowSecurity && !s.catalog.TrustsRowFilters {
			tables = append(tables, table.Name)
		}
	})
	if len(tables) > 0 {
		s.report("row-security-bypassed", place{table: tables[0]},
			"These tables have row-level security, which does not apply to the connection of lint: "+list(tables)+
				". If it applies to the connection of an erasure or an export, habeas refuses the operation.")
	}
}

// Privileges returns what the role of the application needs on the tables of the data map, for all rights, in the order
// of the declared tables.
func Privileges(dataMap datamap.DataMap, plan datamap.Plan) (all []datamap.Privileges) {
	s := newSchema(dataMap, plan, datamap.Catalog{}, false)
	for _, table := range dataMap.Declared() {
		if s.needed[table.Name] {
			all = append(all, datamap.Privileges{Table: table.Name, Granted: s.privileges(table)})
		}
	}
	return all
}

// privileges returns the privileges that an erasure needs on a table. The result includes UPDATE for a table in which
// the erasure only locks rows, because the statement that locks rows needs UPDATE. It locks rows with keys of an
// external system before it deletes them.
func (s *schema) privileges(table datamap.Table) []string {
	needed := []string{"SELECT"}
	holdsKeys := slices.ContainsFunc(table.Columns, func(c datamap.Column) bool {
		return c.Personal != nil && c.Personal.Ref != ""
	})
	if table.Name == s.SubjectTable().Name || s.isOnPath(table.Name) || len(s.writtenColumns(table.Name)) > 0 ||
		holdsKeys {
		needed = append(needed, "UPDATE")
	}
	if s.deletesRows(table.Name) {
		needed = append(needed, "DELETE")
	}
	return needed
}

func (s *schema) checkColumnPrivileges(table datamap.Table, live datamap.CatalogTable) {
	lacks := func(name, privilege string) bool {
		column, _ := live.Column(name)
		return !slices.Contains(live.Missing, privilege) && slices.Contains(column.Missing, privilege)
	}
	report := func(name, privilege string) {
		s.report("privilege-missing", place{table: table.Name, column: name, object: privilege},
			"The connection lacks the privilege "+privilege+" on the column. Every erasure fails.",
			"Grant "+privilege+" on the column to the role of the connection.")
	}
	for _, column := range table.Columns {
		if s.isUsed(table, column) && lacks(column.Name, "SELECT") {
			report(column.Name, "SELECT")
		}
	}
	for _, column := range s.writtenColumns(table.Name) {
		if lacks(column.Name, "UPDATE") {
			report(column.Name, "UPDATE")
		}
	}
}
