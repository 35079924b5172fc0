package check

import (
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/condition"
)

// checkConditions evaluates each CHECK constraint of the tables and domains on the rows after an erasure. It reports a
// constraint that a row violates, and a constraint that it cannot evaluate.
func (s *schema) checkConditions() {
	for _, w := range s.writes {
		for _, check := range w.live.Checks {
			overwritten := w.overwrittenNames(check)
			if overwritten == "" {
				continue
			}
			at := place{table: w.table.Name, column: overwritten, object: check.Name}
			switch w.decide(check) {
			case condition.Fails:
				s.report(checkViolated, at,
					"The surrogate does not satisfy the CHECK constraint"+constraintCalled(check.Name)+". The erasure fails.",
					"Use a surrogate that satisfies it, "+w.nullRemedy(check.Columns)+"or change the constraint.")
			case condition.Undecided:
				s.report(checkUndecided, at,
					"An erasure overwrites the column. The check cannot decide whether the row then satisfies the CHECK "+
						"constraint"+constraintCalled(check.Name)+". If the row does not, the erasure fails.",
					"Rehearse an erasure, or read the constraint.")
			case condition.Holds:
			}
		}
	}
}

// constraintCalled returns the name of a constraint with a leading space, to append it to a phrase. It returns "" if
// the constraint has no name.
func constraintCalled(name string) string {
	if name == "" {
		return ""
	}
	return " " + name
}

// overwrittenNames returns the names of the constraint's columns that the erasure overwrites, joined by commas, or ""
// if there are none.
func (w write) overwrittenNames(check datamap.CatalogCheck) string {
	var names []string
	for _, column := range w.columns {
		if hasName(w.live, check.Columns, column.Name) {
			names = append(names, column.Name)
		}
	}
	return list(names)
}

// decide evaluates a constraint with several examples of the surrogates, because their digits are random. It returns
// Undecided if the outcomes differ.
func (w write) decide(check datamap.CatalogCheck) condition.Outcome {
	var outcome condition.Outcome
	for i := range samples {
		this := condition.Decide(check.Text, func(name string) condition.Value { return w.value(check, name, i) })
		if i > 0 && this != outcome {
			return condition.Undecided
		}
		outcome = this
	}
	return outcome
}

// value returns the value of a column after the erasure, as far as it is known. If the erasure writes random digits,
// value returns an example. The parameter sample is the number of this example. In the constraint of a domain (a
// PostgreSQL type), the name VALUE means the column that has this type.
func (w write) value(check datamap.CatalogCheck, name string, sample int) condition.Value {
	if strings.EqualFold(name, "value") && len(check.Columns) == 1 {
		if _, isColumn := w.live.Column(name); !isColumn {
			name = check.Columns[0]
		}
	}
	for _, column := range w.columns {
		if !sameName(w.live, column.Name, name) {
			continue
		}
		if column.null {
			return condition.Null()
		}
		examples := surrogateOf(column.Column).examples
		return examples[sample%len(examples)]
	}
	if live, ok := w.live.Column(name); ok && !live.Nullable {
		return condition.Present()
	}
	return condition.Value{}
}
