package domain

import "slices"

// CheckSteps returns ErrManifest unless a store can carry out the steps. Each step must be a local step with a known
// strategy on a table of the data map and on columns of that table. No table may have two steps that would affect the
// same row: a table may have one step of each of the strategies anonymize and retain, or one step that deletes its
// rows. failing is the number of steps before the step at fault.
func (m DataMap) CheckSteps(steps []Step) (failing int, err error) {
	for i, step := range steps {
		if fault := m.checkStep(step, steps[:i]); fault != "" {
			return i, &Error{Code: ErrManifest, Op: "erase", Message: fault}
		}
	}
	return 0, nil
}

func (m DataMap) checkStep(step Step, before []Step) (fault string) {
	table, ok := m.Table(step.Target)
	switch {
	case !ok || step.External:
		return "a step is not about a table of the data map"
	case !step.Strategy.Valid():
		return "a step has no known strategy"
	case step.Strategy == StrategyAnonymize && len(step.Columns)+len(step.Expired) == 0:
		return step.Target + ": a step anonymizes no column"
	case step.Strategy == StrategyDelete && len(step.Expired) > 0:
		return step.Target + ": a step that deletes rows has retained columns"
	}
	for _, name := range slices.Concat(step.Columns, step.Expired) {
		if _, ok := table.Column(name); !ok {
			return step.Target + ": a step is about a column that the table does not have"
		}
	}
	for _, name := range step.Expired {
		if column, _ := table.Column(name); column.Personal == nil || column.Personal.Since == "" {
			return step.Target + "." + name + ": a step takes it for a column whose retention ends"
		}
	}
	for _, other := range before {
		sameRows := other.Strategy == step.Strategy || other.Strategy == StrategyDelete || step.Strategy == StrategyDelete
		if other.Target == step.Target && sameRows {
			return step.Target + ": two steps are about the same rows"
		}
	}
	return ""
}
