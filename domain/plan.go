package domain

import (
	"slices"
	"time"
)

// Step is one step of an erasure plan: a local one on all of the subject's rows of a table, or, when External is
// set, a deletion at the external system that a resolver stands for.
type Step struct {
	Target   string   `json:"target"`             // the table, or the resolver
	Strategy Strategy `json:"strategy"`           // delete rows, anonymize columns, or retain them
	Columns  []string `json:"columns,omitempty"`  // what is anonymized or retained; nil when rows are deleted
	External bool     `json:"external,omitempty"` // carried out through the outbox

	// Expired are retained columns with a bounded duty. An anonymize step overwrites those of their cells whose duty is
	// over at the instant At; a row in which it overwrites nothing does not count as anonymized. A retain step has them
	// among its Columns; a row that keeps none of its Columns does not count as retained.
	Expired []string `json:"expired,omitempty"`

	// At is the instant at which duties are judged. A plan leaves it zero; see Plan.LocalAt. At the zero instant, a store
	// takes every duty for one that goes on.
	At time.Time `json:"-"`
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

// LocalAt returns copies of the local steps that judge retention duties at an instant.
func (p Plan) LocalAt(at time.Time) []Step {
	steps := slices.Clone(p.Local())
	for i, step := range steps {
		if len(step.Expired) > 0 {
			steps[i].At = at
		}
	}
	return steps
}

// External returns the steps at external systems.
func (p Plan) External() []Step { return p.Steps[len(p.Local()):] }
