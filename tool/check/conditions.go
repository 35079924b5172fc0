package check

import (
	"context"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// decided identifies a CHECK constraint of the rows that an erasure overwrites, by the indexes of the write and of the
// constraint.
type decided struct{ write, check int }

// decideConditions lets the database evaluate each CHECK constraint of the tables and domains, and the condition of
// each partial unique index, on the rows after an erasure. It leaves out those of columns that no erasure overwrites.
func (s *schema) decideConditions(ctx context.Context, reader ports.CatalogReader) (err error) {
	for i, w := range s.writes {
		for j, check := range w.live.Checks {
			if w.overwrittenNames(check) == "" {
				continue
			}
			if s.verdicts[decided{i, j}], err = w.decide(ctx, reader, check); err != nil {
				return err
			}
		}
		for _, unique := range w.live.Uniques {
			verdict, err := w.decideIndex(ctx, reader, unique)
			if err != nil {
				return err
			}
			if verdict == datamap.VerdictFails {
				s.writes[i].outside = append(s.writes[i].outside, unique.Name)
			}
		}
	}
	return nil
}

// decideIndex evaluates the condition of a partial unique index on the rows after an erasure, for each combination of
// NULL and surrogate. It returns datamap.VerdictFails if the index leaves out all of these rows, and
// datamap.VerdictUndecided if the condition reads a column that the erasure does not always overwrite.
func (w write) decideIndex(
	ctx context.Context, reader ports.CatalogReader, unique datamap.CatalogUnique,
) (verdict datamap.Verdict, err error) {
	check := datamap.CatalogCheck{Name: unique.Name, Text: unique.Where}
	for _, column := range w.columns {
		if !column.expired && strings.Contains(unique.Where, column.live.Name) {
			check.Columns = append(check.Columns, column.live.Name)
		}
	}
	if !unique.Partial || unique.Name == "" || len(check.Columns) == 0 {
		return datamap.VerdictUndecided, nil
	}
	for _, nulls := range w.combinations(check) {
		if len(nulls) > 0 && !strings.Contains(strings.ToUpper(unique.Where), "NULL") {
			continue // a comparison with NULL leaves out the row
		}
		if verdict, err = w.verdict(ctx, reader, check, nulls); verdict != datamap.VerdictFails || err != nil {
			return datamap.VerdictUndecided, err
		}
	}
	return verdict, nil
}

// checkConditions reports a CHECK constraint that a row violates after an erasure, and one that is not decided.
func (s *schema) checkConditions() {
	for i, w := range s.writes {
		for j, check := range w.live.Checks {
			at := place{table: w.table.Name, column: w.overwrittenNames(check), object: check.Name}
			switch s.verdicts[decided{i, j}] {
			case datamap.VerdictFails:
				s.report("check-violated", at,
					"The surrogate does not satisfy the CHECK constraint"+constraintCalled(check.Name)+". The erasure fails.",
					"Use a surrogate that satisfies it, "+w.nullRemedy(check.Columns)+"or change the constraint.")
			case datamap.VerdictUndecided:
				s.report("check-undecided", at,
					"An erasure overwrites the column. The check cannot decide whether the row then satisfies the CHECK "+
						"constraint"+constraintCalled(check.Name)+". If the row does not, the erasure fails.")
			case datamap.VerdictHolds:
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

// example returns an example of the value of the column after the erasure. The parameter sample is the number of the
// example.
func (c written) example(sample int) any {
	if c.null {
		return nil
	}
	examples := surrogateOf(c.Column).examples
	return examples[sample%len(examples)]
}
