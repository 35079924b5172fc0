package plan

import (
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// LocalAt returns the local steps (on the application's own tables) of an erasure at the given instant. A retained cell
// is anonymized if the legal duty to keep it is over at this instant. If the plan has a step that anonymizes other
// columns of the same rows, this step also anonymizes the retained cells. Otherwise LocalAt adds a step.
func LocalAt(p datamap.Plan, at time.Time) []datamap.Step {
	steps := slices.Clone(p.Local())
	for i := 0; i < len(steps); i++ {
		retain := &steps[i]
		if len(retain.Expired) == 0 {
			continue
		}
		retain.At = at
		anonymize := datamap.Step{
			Target: retain.Target, Via: retain.Via, Strategy: domain.StrategyAnonymize, Expired: retain.Expired, At: at,
		}
		if i > 0 && steps[i-1].Strategy == domain.StrategyAnonymize && sameRows(steps[i-1], *retain) {
			anonymize.Columns, anonymize.ClearedColumns = steps[i-1].Columns, steps[i-1].ClearedColumns
			steps[i-1] = anonymize
			continue
		}
		steps = slices.Insert(steps, i, anonymize)
		i++
	}
	return steps
}

// SweepAt returns the steps of a sweep at the given instant. They overwrite only the retained cells for which the legal
// duty to keep them is over at this instant.
func SweepAt(p datamap.Plan, at time.Time) []datamap.Step {
	return slices.DeleteFunc(LocalAt(retained(p), at), func(s datamap.Step) bool { return !OnlyExpired(s) })
}

func retained(p datamap.Plan) datamap.Plan {
	return datamap.Plan{Steps: slices.DeleteFunc(slices.Clone(p.Local()),
		func(s datamap.Step) bool { return s.Strategy != domain.StrategyRetain })}
}

// OnlyExpired reports whether the step overwrites only retained cells, after the end of the legal duty to keep them.
func OnlyExpired(s datamap.Step) bool {
	return s.Strategy == domain.StrategyAnonymize && len(s.Columns)+len(s.ClearedColumns) == 0 && len(s.Expired) > 0
}

// OnlyClearsColumns reports whether the step does nothing except set the columns in ClearedColumns to NULL.
func OnlyClearsColumns(s datamap.Step) bool {
	return len(s.ClearedColumns) > 0 && len(s.Columns)+len(s.Expired) == 0
}

// sameRows reports whether two steps affect the same rows. Two steps with Self count as the same rows only if they set
// the same columns to NULL.
func sameRows(s, other datamap.Step) bool {
	return s.Target == other.Target && s.Via == other.Via && s.Self == other.Self &&
		(!s.Self || slices.Equal(s.ClearedColumns, other.ClearedColumns))
}

// Duties returns the columns whose retention duty protects the cells of the given column from an erasure. Duties
// without an end do not count. The columns are:
//
//   - the given column itself, if it is retained
//   - each retained column that names the given column in Annotation.Since, because the given column holds the start of
//     the duty
//
// An erasure keeps a cell until all of these duties are over.
func Duties(t datamap.Table, column string) []datamap.Column {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c datamap.Column) bool {
		return c.Personal == nil || c.Personal.Since == "" || c.Name != column && c.Personal.Since != column
	})
}
