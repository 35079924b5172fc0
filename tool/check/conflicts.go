package check

import "slices"

// checkConflicts reports conflict clauses of SQLite in constraints of overwritten columns.
func (s *schema) checkConflicts() {
	for _, w := range s.writes {
		for _, conflict := range w.live.Conflicts {
			var names []string
			for _, column := range w.columns {
				if column.null == conflict.NotNull && hasName(w.live, conflict.Columns, column.Name) &&
					!slices.Contains(names, column.Name) {
					names = append(names, column.Name)
				}
			}
			if len(names) == 0 {
				continue
			}
			effect := map[string]string{
				"REPLACE": "deletes the other row, which may be another person's", "IGNORE": "leaves the row as it is",
				"ROLLBACK": "rolls back the whole transaction", "FAIL": "keeps the changes of the rows before",
			}[conflict.Action]
			if conflict.NotNull && conflict.Action == "REPLACE" {
				effect = "writes the default value of the column"
			}
			s.report("conflict-clause", place{table: w.table.Name, column: list(names), object: "ON CONFLICT " +
				conflict.Action},
				"An erasure overwrites the column, and its constraint has ON CONFLICT "+conflict.Action+
					". If a value violates the "+
					"constraint, SQLite "+effect+", wherever a statement does not refuse it, such as the statement of a trigger.")
		}
	}
}
