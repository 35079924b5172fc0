package plan

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// CheckSteps returns domain.ErrManifest if a store cannot carry out the steps, and the index of the first wrong step.
//
// Each step must be a local step with the strategy delete, anonymize or retain. The step must name a table of the data
// map, one of the paths of the table, and columns that belong to this path. It may clear (set to NULL) only columns
// that DataMap.ClearedColumns returns for this path.
//
// For each path, a table may have the steps of one of these alternatives:
//
//   - one step that deletes the rows
//   - up to one step that anonymizes, up to one that retains, and at the end up to one that only clears columns
//
// For each relation in DataMap.SelfReferences, a table may have one step with Step.Self. It must come before the steps
// that delete rows of the table.
func CheckSteps(m datamap.DataMap, steps []datamap.Step) (index int, err error) {
	for i, step := range steps {
		if fault := checkStep(m, step, steps[:i]); fault != "" {
			return i, &domain.Error{Code: domain.ErrManifest, Op: "erase", Message: fault}
		}
	}
	return 0, nil
}

func checkStep(m datamap.DataMap, step datamap.Step, before []datamap.Step) (fault string) {
	table, ok := m.Table(step.Target)
	path, onPath := m.PathVia(step.Target, step.Via)
	if ok && step.Self {
		return checkSelfStep(m, step, before)
	}
	switch {
	case !ok || step.External:
		return "the target of a step is not a table of the data map"
	case !isOfStep(step.Strategy):
		return "a step has a strategy other than delete, anonymize and retain"
	case !onPath:
		return step.Target + ": a step names a path that the table does not have"
	case step.Strategy == domain.StrategyAnonymize && len(step.Columns)+len(step.Expired)+len(step.ClearedColumns) == 0:
		return step.Target + ": a step anonymizes no column"
	case step.Strategy != domain.StrategyAnonymize && len(step.ClearedColumns) > 0:
		return step.Target + ": a step clears columns, but does not have the strategy anonymize"
	case step.Scope != nil && !OnlyExpired(step):
		return step.Target + ": a step with a Scope overwrites more than retained cells"
	case step.Strategy == domain.StrategyDelete && len(step.Expired) > 0:
		return step.Target + ": a step that deletes rows has retained columns"
	}
	for _, name := range slices.Concat(step.Columns, step.Expired) {
		column, ok := table.Column(name)
		switch {
		case !ok:
			return step.Target + ": a step names a column that the table does not have"
		case column.Personal != nil && !path.Has(column):
			return step.Target + "." + name + ": a step names a column that belongs to another path"
		}
	}
	clears := m.ClearedColumns(table, path)
	for _, name := range step.ClearedColumns {
		if !slices.Contains(clears, name) {
			return step.Target + "." + name + ": a step clears a column that must keep its value"
		}
	}
	for _, name := range step.Expired {
		if column, _ := table.Column(name); column.Personal == nil || column.Personal.Since == "" {
			return step.Target + "." + name + ": a step has an expired column whose retention period never ends"
		}
	}
	for _, other := range before {
		meet := other.Strategy == step.Strategy || other.Strategy == domain.StrategyDelete ||
			step.Strategy == domain.StrategyDelete
		last := OnlyClearsColumns(step) && other.Strategy == domain.StrategyAnonymize && !OnlyClearsColumns(other)
		if sameRows(other, step) && meet && !last {
			return step.Target + ": two steps affect the same rows"
		}
	}
	return ""
}

// checkSelfStep is checkStep for a step with Step.Self.
func checkSelfStep(m datamap.DataMap, step datamap.Step, before []datamap.Step) (fault string) {
	_, isReference := m.SelfReference(step)
	switch {
	case step.Strategy != domain.StrategyAnonymize || !OnlyClearsColumns(step) || step.Via != "" || step.External ||
		step.Scope != nil:
		return step.Target + ": a step with Self does more than clear columns"
	case !isReference:
		return step.Target + ": a step with Self clears columns that are not a reference of the table to itself"
	}
	for _, other := range before {
		switch {
		case sameRows(other, step):
			return step.Target + ": two steps affect the same rows"
		case other.Target == step.Target && other.Strategy == domain.StrategyDelete:
			return step.Target + ": a step with Self comes after a step that deletes rows"
		}
	}
	return ""
}

// isOfStep reports whether a Step may have the strategy.
func isOfStep(s domain.Strategy) bool {
	return s == domain.StrategyDelete || s == domain.StrategyAnonymize || s == domain.StrategyRetain
}
