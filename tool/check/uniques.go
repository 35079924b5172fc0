package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkUniques reports unique and exclusion constraints that surrogates may violate.
func (s *schema) checkUniques() {
	for _, w := range s.writes {
		constraints := w.live.Uniques
		if len(w.live.PrimaryKey) > 0 {
			constraints = append([]datamap.CatalogUnique{{Columns: w.live.PrimaryKey}}, constraints...)
		}
		for _, unique := range constraints {
			if colliding := w.colliding(unique); len(colliding) > 0 {
				// Each expression of the index is then the same in all of these rows.
				isConstant := isSubset(w.live, unique.Columns, colliding)
				at := place{table: w.table.Name, column: list(colliding), object: unique.Name}
				s.reportUnique(unique, isConstant, at, s.distinctRemedy(w, unique, colliding))
			}
		}
	}
}

func (s *schema) reportUnique(unique datamap.CatalogUnique, isConstant bool, at place, remedy string) {
	switch {
	case unique.Exclusion:
		s.report("unique-undecided", at,
			"An erasure overwrites the column. The check cannot decide whether the exclusion constraint"+
				constraintCalled(unique.Name)+" still holds. If it does not, the erasure fails.",
			"Rehearse two erasures, or read the constraint. If it holds, accept the finding.")
	case unique.Partial || unique.Expressions && !isConstant:
		s.report("unique-undecided", at,
			"An erasure writes equal surrogates into the column. The unique index"+constraintCalled(unique.Name)+
				" may refuse the second one, but it covers only some rows, or expressions.", remedy)
	default:
		s.report("unique-violated", at,
			"An erasure writes equal surrogates into the column, but the unique constraint"+constraintCalled(unique.Name)+
				" refuses the second one. That erasure fails.", remedy)
	}
}

// distinctRemedy returns the remedy for equal surrogates in a unique constraint. Only a text can have surrogates that
// differ in each cell. For other types, an erasure has one surrogate, except for a UUID without a surrogate of its own.
func (s *schema) distinctRemedy(w write, unique datamap.CatalogUnique, colliding []string) string {
	orNull := w.nullRemedy(colliding)
	if unique.NullsEqual {
		orNull = ""
	}
	isOf := func(t datamap.ColumnType) bool {
		return slices.ContainsFunc(w.columns, func(c written) bool {
			return c.Type == t && c.live.Values == nil && slices.Contains(colliding, c.Name)
		})
	}
	switch {
	case isOf(datamap.TypeText):
		return "Give a surrogate that differs in each cell (a placeholder in a text: {unique surrogate}), " + orNull +
			"or change the constraint."
	case isOf(datamap.TypeUUID):
		return "Remove the surrogate of the UUID, so that each cell gets a different one, " + orNull +
			"or change the constraint."
	}
	if orNull == "" && !unique.NullsEqual {
		orNull = "drop NOT NULL and set {null}, "
	}
	other := ""
	if unique.Partial {
		other = "give a surrogate to which the condition of the index does not apply, "
	}
	return "Only a text can have surrogates that differ in each cell. Drop the constraint, " + orNull + other +
		"change the type to a text, or declare that the column holds no personal data ({none})."
}

// colliding returns those columns of a unique constraint in which an erasure writes a value that another row may also
// have. It returns nil if the constraint has another column that is NULL or different in each row, because the database
// then accepts the row, or if the condition of a partial index does not apply to the surrogates.
func (w write) colliding(unique datamap.CatalogUnique) []string {
	var names, kept []string
	for _, name := range unique.Columns {
		i := slices.IndexFunc(w.columns, func(c written) bool { return sameName(w.live, c.Name, name) })
		if i < 0 {
			kept = append(kept, name)
			continue
		}
		column := w.columns[i]
		switch {
		case column.null && unique.NullsEqual, unique.Exclusion && !column.null:
			names = append(names, column.Name)
		case column.null, column.Unique() && !column.expired && (!column.keepsNull() || !unique.NullsEqual):
			return nil
		case !column.Unique():
			names = append(names, column.Name)
		}
	}
	if isUnique(w.live, kept) || slices.Contains(w.outside, unique.Name) {
		return nil
	}
	return names
}
