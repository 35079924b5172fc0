package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// checkKeys finds foreign keys that surrogates break.
func (s *schema) checkKeys() {
	for _, w := range s.writes {
		for _, foreign := range w.live.ForeignKeys {
			s.checkReference(w, foreign)
		}
	}
	for _, child := range s.catalog.Tables {
		for _, foreign := range child.ForeignKeys {
			parent, ok := s.named(foreign.References)
			if !ok {
				continue
			}
			for _, column := range s.writtenColumns(parent.Name) {
				if hasName(s.live[parent.Name], foreign.Referenced, column.Name) {
					s.report(referencedWritten, place{table: parent.Name, column: column.Name, object: foreign.Name},
						"An erasure overwrites the column, and the foreign key "+keyCalled(foreign)+" of "+child.Name+
							" refers to it. The erasure fails if a row of "+child.Name+" refers to the person's row.",
						"Let "+child.Name+" refer to another key, or let the whole row be deleted.")
				}
			}
		}
	}
}

// checkReference finds columns of a foreign key into which an erasure writes what the other table does not have. If one
// of the columns is NULL, nothing is looked up.
func (s *schema) checkReference(w write, foreign domain.CatalogForeignKey) {
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
				"An erasure writes the surrogate into the column, and its foreign key refers to "+foreign.References+
					". The erasure fails if there is no such row.",
				"Make sure that a migration of the application inserts the row.")
		} else {
			s.report(referenceWritten, at,
				"An erasure overwrites the column, and its foreign key refers to "+foreign.References+
					", which does not have the surrogate. The erasure fails.",
				"Say erasure:null, take the annotation off, or give the key of a row that stands for erased people as the "+
					"surrogate and leave the foreign key.")
		}
	}
}

// keyCalled names a foreign key: by its name, or by its columns where it has none.
func keyCalled(foreign domain.CatalogForeignKey) string {
	if foreign.Name != "" {
		return foreign.Name
	}
	return "on " + list(foreign.Columns)
}
