package check

import (
	"slices"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkPlaceholder reports a text column in a unique constraint with the surrogate {}, which an erasure writes
// unchanged (see datamap.Placeholder).
func (s *schema) checkPlaceholder(column written, at place) {
	if column.Surrogate != datamap.Placeholder || column.Type != datamap.TypeText ||
		column.live.Type != datamap.TypeText || column.live.Values != nil || !s.collides(at) {
		return
	}
	s.report(placeholderAlone, at,
		"An erasure writes the two characters {} into each cell. Only beside other characters, {} is a placeholder for "+
			"random digits. The column is in a unique constraint or index, so that a second erasure fails.",
		"Write anon-{} as the surrogate ({anon}).")
}

// collides reports whether a unique constraint or index may refuse the surrogate of a column because another row has
// it.
func (s *schema) collides(at place) bool {
	return slices.ContainsFunc(s.writes, func(w write) bool {
		return w.table.Name == at.table && slices.ContainsFunc(w.live.Uniques, func(u datamap.CatalogUnique) bool {
			return !u.Exclusion && slices.Contains(w.colliding(u), at.column)
		})
	})
}

// checkDerived reports generated columns that are shorter than a surrogate from which the database may compute them.
// Without the expression of the column, each text that an erasure writes into the table counts.
func (s *schema) checkDerived(table datamap.Table, live datamap.CatalogTable) {
	for _, column := range live.Columns {
		if !column.Generated || column.Type != datamap.TypeText || column.Length == 0 {
			continue
		}
		longest, source := column.Length, ""
		for _, written := range s.writtenColumns(table.Name) {
			isText := written.live.Type == datamap.TypeText && !written.live.Generated && !written.null
			if length := utf8.RuneCountInString(surrogateOf(written.Column).text); isText && length > longest &&
				s.mayExceed(column, written.live.Name) {
				longest, source = length, written.Name
			}
		}
		if source == "" {
			continue
		}
		depends := ""
		if column.Expression == "" {
			depends = " If the column does not depend on it, accept the finding."
		}
		s.report(derivedLength, place{table: table.Name, column: column.Name},
			"The database computes the column and takes "+characters(column.Length)+", but an erasure writes "+
				characters(longest)+" into "+source+". If the result is too long, the erasure fails.",
			"Give "+source+" a shorter surrogate, such as by its length in the data map, or make the generated column longer."+
				depends)
	}
}
