package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkKeys reports foreign keys that an erasure violates, because it overwrites a referring or a referenced column.
func (s *schema) checkKeys() {
	for _, w := range s.writes {
		for _, foreign := range w.live.ForeignKeys {
			s.checkReference(w, foreign)
		}
	}
	for _, child := range s.catalog.Tables {
		for _, foreign := range child.ForeignKeys {
			parent, ok := s.mappedTable(foreign.References)
			if !ok {
				continue
			}
			for _, column := range s.writtenColumns(parent.Name) {
				if hasName(s.live[parent.Name], foreign.Referenced, column.Name) && (!foreign.Follows || column.null) {
					s.report(referencedWritten, place{table: parent.Name, column: column.Name, object: foreign.Name},
						"An erasure overwrites the column, but the foreign key "+keyCalled(foreign)+" of "+child.Name+
							" refers to it. The erasure fails if a row of "+child.Name+" refers to the person's row.",
						"Change "+child.Name+" to refer to another key, or have the erasure delete the row.")
				}
			}
		}
	}
}

// checkReference reports columns of a foreign key into which an erasure writes a surrogate. The referenced table may
// have no row with this key. A foreign key with a column that the erasure sets to NULL is not reported, because the
// database then does not check the key.
func (s *schema) checkReference(w write, foreign datamap.CatalogForeignKey) {
	isNull := func(c written) bool { return c.null && hasName(w.live, foreign.Columns, c.Name) }
	if slices.ContainsFunc(w.columns, isNull) {
		return
	}
	for _, column := range w.columns {
		if !hasName(w.live, foreign.Columns, column.Name) {
			continue
		}
		at := place{table: w.table.Name, column: column.Name, object: foreign.Name}
		if constant, ok := column.Constant(); ok && constant != "" && column.Digits() == 0 {
			s.report(referenceUndecided, at,
				"An erasure writes the surrogate into the column, whose foreign key refers to "+foreign.References+
					". The erasure fails if "+foreign.References+" has no row with this key.",
				"Make sure that a migration of the application inserts the row.")
		} else {
			s.report(referenceWritten, at,
				"An erasure overwrites the column, whose foreign key refers to "+foreign.References+
					". This table has no row with the surrogate as its key. The erasure fails.",
				"Remove the annotation, "+column.nullRemedy()+"or insert a row for erased people and use its key as the surrogate.")
		}
	}
}

// keyCalled returns the name of a foreign key for a message. It returns "on" and the columns if the foreign key has no
// name.
func keyCalled(foreign datamap.CatalogForeignKey) string {
	if foreign.Name != "" {
		return foreign.Name
	}
	return "on " + list(foreign.Columns)
}
