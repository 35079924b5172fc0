package domain

import (
	"maps"
	"slices"
	"time"
)

// Step is one step of an erasure plan. A local step affects all rows of the subject in a table. An External step is an
// erasure in the external system of a resolver.
type Step struct {
	Target   string   `json:"target"`             // the table, or the resolver
	Strategy Strategy `json:"strategy"`           // delete rows, anonymize columns, or retain columns
	Columns  []string `json:"columns,omitempty"`  // anonymized, set to NULL, or retained; nil if rows are deleted
	External bool     `json:"external,omitempty"` // carried out through the outbox
	// Via is the name of the path whose rows the step affects. Via is empty if the table has one path. See Path.
	Via string `json:"via,omitempty"`
	// Clears are columns of an anonymize step that refer to the subject and are set to NULL. See DataMap.Clears.
	Clears []string `json:"clears,omitempty"`

	// Expired are retained columns whose retention duty has an end. A retain step also lists these columns in Columns. A
	// row does not count as retained if all duties of its Columns are over at the instant At. An anonymize step that
	// LocalAt creates overwrites the cells of these columns whose duty is over. A row in which the step overwrites nothing
	// does not count as anonymized.
	Expired []string `json:"expired,omitempty"`

	// At is the instant at which a store decides whether a retention duty is over. At is zero in a plan. See Plan.LocalAt.
	// If At is zero, a store treats every duty as continuing.
	At time.Time `json:"-"`

	// Scope restricts a step with OnlyExpired to cells that earlier erasures have left. A store sets it. See the type
	// Scope.
	Scope *SweepScope `json:"-"`
}

// Plan lists the steps of an erasure. The local steps come first, in the order of DataMap.ChildrenFirst. One external
// step for each resolver follows. A Plan is a plain value that is the same for every subject. It may be printed,
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

// LocalAt returns the local steps at an instant. Retained cells whose duty is over at the instant are anonymized. The
// step that anonymizes other columns of the same rows also anonymizes these cells. If there is no such step, LocalAt
// adds one.
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

// SweepAt returns the steps that overwrite only retained cells whose duty is over at an instant.
func (p Plan) SweepAt(at time.Time) []Step {
	return slices.DeleteFunc(p.retained().LocalAt(at), func(s Step) bool { return !s.OnlyExpired() })
}

// retained returns a plan that has only the retain steps.
func (p Plan) retained() Plan {
	return Plan{slices.DeleteFunc(slices.Clone(p.Local()), func(s Step) bool { return s.Strategy != StrategyRetain })}
}

// OnlyExpired reports whether the step overwrites only cells whose duty is over.
func (s Step) OnlyExpired() bool {
	return s.Strategy == StrategyAnonymize && len(s.Columns)+len(s.Clears) == 0 && len(s.Expired) > 0
}

// OnlyClears reports whether the step only clears references.
func (s Step) OnlyClears() bool { return len(s.Clears) > 0 && len(s.Columns)+len(s.Expired) == 0 }

// sameRows reports whether two steps affect the same rows.
func (s Step) sameRows(other Step) bool { return s.Target == other.Target && s.Via == other.Via }

// ErasureResult is the result of an erasure (Art. 17 GDPR). It has the number of rows for each table in the
// application's own database, and the external systems whose erasure is still due. A row that several paths connect to
// the subject counts once for each path.
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
