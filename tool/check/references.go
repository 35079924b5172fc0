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
				if hasName(s.live[parent.Name], foreign.Referenced, column.Name) {
					s.checkReferenced(child, foreign, parent, column)
				}
			}
		}
	}
}

// checkReferenced reports a foreign key that refers to an overwritten column: it refuses the change, or the database
// changes the referring rows with it.
func (s *schema) checkReferenced(
	child datamap.CatalogTable, foreign datamap.CatalogForeignKey, parent datamap.Table, column written,
) {
	at := place{table: parent.Name, column: column.Name, object: foreign.Name}
	if !s.acceptsUpdate(child, foreign, s.live[parent.Name], column) {
		s.report("referenced-overwritten", at,
			"An erasure overwrites the column, but the foreign key "+keyCalled(foreign)+" of "+child.Name+
				" refers to it. The erasure fails if a row of "+child.Name+" refers to the person's row.",
			"Change "+child.Name+" to refer to another key, or have the erasure delete the row.")
		return
	}
	action := "CASCADE"
	if !foreign.Follows {
		action = "SET NULL"
	}
	s.report("update-cascades", at,
		"An erasure overwrites the column, and the foreign key "+keyCalled(foreign)+" of "+child.Name+
			" refers to it with ON UPDATE "+action+". The database also changes the rows of "+child.Name+
			" that refer to the person's row, and fires their triggers.",
		"If these rows may change, also those of other people, accept the finding. If not, change "+child.Name+
			" to refer to another key.")
}

// acceptsUpdate reports whether a foreign key of a table accepts that an erasure overwrites a referenced column: the
// database then writes the new value into the referring rows (ON UPDATE CASCADE), or NULL (ON UPDATE SET NULL).
func (s *schema) acceptsUpdate(
	child datamap.CatalogTable, foreign datamap.CatalogForeignKey, parent datamap.CatalogTable, overwritten written,
) bool {
	if foreign.Follows && !overwritten.null {
		return true
	}
	if !foreign.Follows && !foreign.ClearsOnUpdate || len(foreign.Columns) != len(foreign.Referenced) {
		return false
	}
	for i, name := range foreign.Columns {
		column, _ := child.Column(name)
		isSet := foreign.ClearsOnUpdate || sameName(parent, foreign.Referenced[i], overwritten.Name)
		if isSet && !column.Nullable || !isSet && foreign.Full {
			return false
		}
	}
	return true
}

// checkReference reports columns of a foreign key into which an erasure writes a surrogate. The referenced table may
// have no row with this key. A foreign key with a column that the erasure sets to NULL is not reported, because the
// database then does not check the key, unless it has MATCH FULL.
func (s *schema) checkReference(w write, foreign datamap.CatalogForeignKey) {
	isNull := func(c written) bool { return c.null && hasName(w.live, foreign.Columns, c.Name) }
	if i := slices.IndexFunc(w.columns, isNull); i >= 0 {
		if kept := w.keptBeside(foreign); foreign.Full && len(kept) > 0 {
			s.report("reference-overwritten", place{table: w.table.Name, column: w.columns[i].Name, object: foreign.Name},
				"An erasure sets the column to NULL, but not "+list(kept)+". The foreign key "+keyCalled(foreign)+
					" has MATCH FULL: either all of its columns are NULL, or none is. The erasure fails.",
				"Set the other columns to NULL, too, or declare the foreign key without MATCH FULL.")
		}
		return
	}
	for _, column := range w.columns {
		if !hasName(w.live, foreign.Columns, column.Name) {
			continue
		}
		at := place{table: w.table.Name, column: column.Name, object: foreign.Name}
		if constant, ok := column.Constant(); ok && constant != "" && column.Digits() == 0 {
			s.report("reference-undecided", at,
				"An erasure writes the surrogate into the column, whose foreign key refers to "+foreign.References+
					". The erasure fails if "+foreign.References+" has no row with this key.")
		} else {
			s.report("reference-overwritten", at,
				"An erasure overwrites the column, whose foreign key refers to "+foreign.References+
					". This table has no row with the surrogate as its key. The erasure fails.",
				"Remove the annotation, "+column.nullRemedy()+"or insert a row for erased people and use its key as the surrogate.")
		}
	}
}

// keptBeside returns the columns of a foreign key that an erasure does not set to NULL, and that may hold a value.
func (w write) keptBeside(foreign datamap.CatalogForeignKey) (kept []string) {
	for _, name := range foreign.Columns {
		if !slices.ContainsFunc(w.columns, func(c written) bool { return c.null && sameName(w.live, c.Name, name) }) {
			kept = append(kept, name)
		}
	}
	return kept
}

// keyCalled returns the name of a foreign key for a message. It returns "on" and the columns if the foreign key has no
// name.
func keyCalled(foreign datamap.CatalogForeignKey) string {
	if foreign.Name != "" {
		return foreign.Name
	}
	return "on " + list(foreign.Columns)
}
