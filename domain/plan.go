package domain

// Step is one step of an erasure plan: a local one on all of the subject's rows of a table, or, when External is
// set, a deletion at the external system that a resolver stands for.
type Step struct {
	Target   string   `json:"target"`             // the table, or the resolver
	Strategy Strategy `json:"strategy"`           // delete rows, anonymize columns, or retain them
	Columns  []string `json:"columns,omitempty"`  // what is anonymized or retained; nil when rows are deleted
	External bool     `json:"external,omitempty"` // carried out through the outbox
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

// External returns the steps at external systems.
func (p Plan) External() []Step { return p.Steps[len(p.Local()):] }
