package domain

import (
	"maps"
	"slices"
	"time"
)

// Step is one step of an erasure plan: a local one on all of the subject's rows of a table, or, when External is
// set, a deletion at the external system that a resolver stands for.
type Step struct {
	Target   string   `json:"target"`             // the table, or the resolver
	Strategy Strategy `json:"strategy"`           // delete rows, anonymize columns, or retain them
	Columns  []string `json:"columns,omitempty"`  // what is anonymized, set to NULL or retained; nil when rows are deleted
	External bool     `json:"external,omitempty"` // carried out through the outbox
	// Via is the name of the path whose rows the step is about; empty where the table has one path. See Path.
	Via string `json:"via,omitempty"`
	// Clears are columns of an anonymize step that are set to NULL: the reference to the subject. See DataMap.Clears.
	Clears []string `json:"clears,omitempty"`

	// Expired are retained columns with a bounded duty. A retain step has them among its Columns. A row that keeps none of
	// its Columns, because all duties are over at the instant At, does not count as retained. An anonymize step that
	// LocalAt makes overwrites the cells of these columns whose duty is over. A row in which it overwrites nothing does
	// not count as anonymized.
	Expired []string `json:"expired,omitempty"`

	// At is the instant at which duties are judged. A plan leaves it zero; see Plan.LocalAt. At the zero instant, a store
	// takes every duty for one that goes on.
	At time.Time `json:"-"`

	// Left narrows a step that OnlyExpired to cells that earlier steps have left. A store sets it; see Left.
	Left *Left `json:"-"`
}

// Plan says what an erasure does, step by step: local steps with children before parents and the subject's table last,
// then one external deletion per resolver. It is a plain value, the same for every subject, and may be printed,
// compared and stored.
type Plan struct {
	Steps []Step `json:"steps"`
}

// Local returns the steps on the application's own tables.
func (p Plan) Local() []Step {
	for i, step := range p.Steps {
		if step.External {
			return p.Steps[:i]
		}
	}
	return p.Steps
}

// LocalAt returns the local steps as they are at an instant: retained cells whose duty is over by then are anonymized.
// The step that anonymizes other columns of the table does this too; if there is no such step, a separate step does it.
func (p Plan) LocalAt(at time.Time) []Step {
	steps := slices.Clone(p.Local())
	for i := 0; i < len(steps); i++ {
		retain := &steps[i]
		if len(retain.Expired) == 0 {
			continue
		}
		retain.At = at
		anonymize := Step{
			Target: retain.Target, Via: retain.Via, Strategy: StrategyAnonymize, Expired: retain.Expired, At: at,
		}
		if i > 0 && steps[i-1].Strategy == StrategyAnonymize && steps[i-1].sameRows(*retain) {
			anonymize.Columns, anonymize.Clears = steps[i-1].Columns, steps[i-1].Clears
			steps[i-1] = anonymize
			continue
		}
		steps = slices.Insert(steps, i, anonymize)
		i++
	}
	return steps
}

// SweepAt returns the steps that overwrite nothing but retained cells whose duty is over at an instant.
func (p Plan) SweepAt(at time.Time) []Step {
	return slices.DeleteFunc(p.retained().LocalAt(at), func(s Step) bool { return !s.OnlyExpired() })
}

// retained is the plan with nothing but the steps that retain.
func (p Plan) retained() Plan {
	return Plan{slices.DeleteFunc(slices.Clone(p.Local()), func(s Step) bool { return s.Strategy != StrategyRetain })}
}

// OnlyExpired reports whether the step has nothing to do but where a duty is over.
func (s Step) OnlyExpired() bool {
	return s.Strategy == StrategyAnonymize && len(s.Columns)+len(s.Clears) == 0 && len(s.Expired) > 0
}

// OnlyClears reports whether the step has nothing to do but to clear references.
func (s Step) OnlyClears() bool { return len(s.Clears) > 0 && len(s.Columns)+len(s.Expired) == 0 }

// sameRows reports whether two steps are about the same rows.
func (s Step) sameRows(other Step) bool { return s.Target == other.Target && s.Via == other.Via }

// ErasureResult says what an erasure (Art. 17 GDPR) did in the application's own tables, in rows per table, and which
// external systems are still to be told. A row that several paths lead from to the subject counts once for each of
// them.
type ErasureResult struct {
	SubjectID        SubjectID        `json:"subject_id"`
	CompletedAt      time.Time        `json:"completed_at"`
	Deleted          map[string]int64 `json:"deleted"`
	Anonymized       map[string]int64 `json:"anonymized"`
	Retained         map[string]int64 `json:"retained"`
	EnqueuedExternal []string         `json:"enqueued_external"` // resolver names: one for each ref, and one for all keys
}

// Clone returns a copy that shares no memory with r.
func (r ErasureResult) Clone() ErasureResult {
	r.Deleted, r.Anonymized, r.Retained = maps.Clone(r.Deleted), maps.Clone(r.Anonymized), maps.Clone(r.Retained)
	r.EnqueuedExternal = slices.Clone(r.EnqueuedExternal)
	return r
}
