package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkEnforcement reports that the database ignores the foreign keys of mapped tables, and of tables that refer to
// them. Rules about foreign keys then describe a protection that does not exist.
func (s *schema) checkEnforcement() {
	isConcerned := func(live datamap.CatalogTable) bool {
		return slices.ContainsFunc(live.ForeignKeys, func(foreign datamap.CatalogForeignKey) bool {
			target, known := s.catalog.Table(foreign.References)
			return known && slices.ContainsFunc(s.Tables(), func(t datamap.Table) bool { return target.IsCalled(t.Name) })
		})
	}
	if s.catalog.IgnoresForeignKeys && slices.ContainsFunc(s.catalog.Tables, isConcerned) {
		s.report("foreign-keys-ignored", place{table: s.SubjectTable().Name})
	}
}

// checkForeignKeys reports relations that begin a path and have no foreign key. An erasure locks the rows to which such
// a relation refers. A transaction that inserts a referring row waits for this lock only if there is a foreign key.
// Without a foreign key, the erasure may miss the new row.
//
// checkForeignKeys ignores relations with a condition, and those that lack one (see checkKinds), because a foreign key
// cannot express the condition. It ignores views and foreign tables (tables on another server), because they have no
// foreign keys. A foreign key with the columns of the relation and further columns, such as a tenant id, is sufficient.
func (s *schema) checkForeignKeys() {
	if s.catalog.SerialWrites {
		return
	}
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		if !s.needed[table.Name] || !isTable(live) {
			return
		}
		for _, path := range s.Paths(table.Name) {
			if len(path.Relations) == 0 || path.Relations[0].When != nil {
				continue
			}
			relation := path.Relations[0]
			parent, exists := s.live[relation.References]
			if !exists || !isTable(parent) || !hasAll(live, relation.Columns) ||
				!isUnique(parent, relation.ReferencedColumns) { // see checkSharing
				continue
			}
			if slices.ContainsFunc(live.ForeignKeys, func(foreign datamap.CatalogForeignKey) bool {
				target, known := s.catalog.Table(foreign.References)
				return known && target.Name == parent.Name && isSubset(live, relation.Columns, foreign.Columns)
			}) || s.isReversed(relation, live, parent) || kindOf(live, relation) != "" {
				continue
			}
			at := place{table: table.Name, column: list(relation.Columns)}
			remedy := "Create a foreign key on " + list(relation.Columns) + " that refers to " + relation.References + "."
			if !slices.Equal(relation.ReferencedColumns, parent.PrimaryKey) {
				remedy += " If rows may name people who have no row there, such as invitations by an address, accept the finding."
			}
			s.report("foreign-key-missing", at, "No foreign key refers to "+relation.References+
				". If a transaction adds a row while an erasure of its subject runs, the row stays.", remedy)
		}
	})
}

// isReversed reports whether a foreign key exists in the other direction, as from people.address_id to addresses.id. A
// new row of the table then belongs to nobody until the row of the person, which an erasure locks, refers to it.
func (s *schema) isReversed(relation datamap.Relation, live, parent datamap.CatalogTable) bool {
	return slices.ContainsFunc(parent.ForeignKeys, func(foreign datamap.CatalogForeignKey) bool {
		target, known := s.catalog.Table(foreign.References)
		return known && target.Name == live.Name && slices.Equal(foreign.Columns, relation.ReferencedColumns) &&
			slices.Equal(foreign.Referenced, relation.Columns)
	})
}
