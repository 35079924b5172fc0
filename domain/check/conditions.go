package check

import (
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/condition"
)

// checkConditions evaluates the CHECK constraints of tables and domains for the rows that an erasure overwrites.
func (s *schema) checkConditions() {
	for _, w := range s.writes {
		for _, check := range w.live.Checks {
			touched := w.touched(check)
			if touched == "" {
				continue
			}
			at := place{table: w.table.Name, column: touched, object: check.Name}
			switch w.decide(check) {
			case condition.Fails:
				s.report(checkViolated, at,
					"The surrogate does not satisfy the CHECK constraint"+called(check.Name)+". The erasure fails.",
					"Use a surrogate that satisfies it, "+w.orNull(check.Columns)+"or change the constraint.")
			case condition.Undecided:
				s.report(checkUndecided, at,
					"An erasure overwrites the column. The check cannot decide whether the row then satisfies the CHECK "+
						"constraint"+called(check.Name)+". If the row does not, the erasure fails.",
					"Rehearse an erasure, or read the constraint.")
			case condition.Holds:
			}
		}
	}
}

// called returns the name of a constraint for a sentence, or "" if it has no name.
func called(name string) string {
	if name == "" {
		return ""
	}
	return " " + name
}

// touched returns the columns of a constraint that the erasure overwrites, joined, or "".
func (w write) touched(check domain.CatalogCheck) string {
	var names []string
	for _, column := range w.columns {
		if hasName(w.live, check.Columns, column.Name) {
			names = append(names, column.Name)
		}
	}
	return list(names)
}

// decide evaluates a constraint for each example of the surrogates. If the outcomes differ, it returns Undecided.
func (w write) decide(check domain.CatalogCheck) condition.Outcome {
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

// value returns the known part of the value of a column after the erasure. The constraint of a domain refers to its
// value as VALUE.
func (w write) value(check domain.CatalogCheck, name string, sample int) condition.Value {
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
