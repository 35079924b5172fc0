package datamap

import (
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Step is one step of an erasure plan. A local step affects all rows of the subject in one table. An External step
// erases in the external system of one resolver.
type Step struct {
	Target   string          `json:"target"`             // the table of a local step, or the resolver of an External step
	Strategy domain.Strategy `json:"strategy"`           // StrategyDelete, StrategyAnonymize or StrategyRetain
	Columns  []string        `json:"columns,omitempty"`  // anonymized, set to NULL, or retained; nil if rows are deleted
	External bool            `json:"external,omitempty"` // carried out through the outbox
	// Via is the name of the path whose rows the step affects. Via is empty if the table has one path. See Path.
	Via string `json:"via,omitempty"`
	// ClearedColumns are columns of an anonymize step that refer to the subject and are set to NULL. See
	// DataMap.ClearedColumns.
	ClearedColumns []string `json:"clears,omitempty"`
	// Self says that the step only sets the columns in ClearedColumns to NULL, in the rows that refer to rows that a later
	// step deletes from the same table. These are rows of other people, or rows that a later step deletes, too.
	// ClearedColumns are then columns of a relation of the table to itself, and Via is empty. See DataMap.SelfReferences.
	Self bool `json:"self,omitempty"`

	// Expired are retained columns whose retention duty has an end. The meaning depends on the Strategy of the step:
	//
	//   - In a retain step, these columns are also in Columns. A row does not count as retained if the duties of all
	//     columns in Columns are over at the instant At.
	//   - In an anonymize step, the step overwrites the cells of these columns whose duty is over. A row in which the step
	//     overwrites no cell does not count as anonymized. LocalAt creates such steps.
	Expired []string `json:"expired,omitempty"`

	// At is the instant that a store compares with the end of each retention duty. It is zero in a Plan, and set in the
	// steps that plan.LocalAt returns. If At is zero, a store treats every duty as not over.
	At time.Time `json:"-"`

	// Scope restricts the step of a sweep to the cells that the last erasure and the earlier sweeps had to keep. A sweep
	// overwrites retained cells after the end of the legal duty to keep them. Only a store sets Scope, and only in a step
	// for which OnlyExpired returns true.
	Scope *domain.SweepScope `json:"-"`

	// DutiesSince is the instant at which a sweep first saw the present retention duties of the data map, in a step of a
	// sweep. Zero means that no column depends on it. See domain.SweepScope.DutyEndsAfter.
	DutiesSince time.Time `json:"-"`
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
