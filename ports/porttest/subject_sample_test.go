package porttest

import (
	"context"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// changesSample returns a function that makes a store defective: broken replaces Sample in its rehearsals.
func changesSample(broken func(c subjectCall) ([]datamap.SampledRow, error)) func(*Store) {
	return changesRehearsals(func(_, rehearse doFunc, ctx context.Context, fn sessionFunc) error {
		return rehearse(ctx, func(ctx context.Context, s ports.Session) error {
			subjects := brokenSubjects{SubjectStore: s.Subjects(), sample: broken}
			return fn(ctx, replacedStores{Session: s, subjects: subjects})
		})
	})
}

func sampleDefects() defects {
	return defects{
		"samples without a limit": {changesSample(func(c subjectCall) ([]datamap.SampledRow, error) {
			c.sampled.Limit = 100
			return c.readSample()
		}), found{"are not the first two": {subjectRowsAreSampled}}},
		"samples of deleted rows": {changesSample(func(c subjectCall) ([]datamap.SampledRow, error) {
			rows, err := c.readSample()
			if c.sampled.Keys != nil && len(rows) == 0 {
				rows = append(rows, datamap.SampledRow{})
			}
			return rows, err
		}), found{"deleted rows are sampled": {subjectRowsAreSampled}}},
		"samples with the old values": {oldSamples, found{
			"has no new value": {subjectRowsAreSampledWithTheirNewValues},
		}},
		"samples outside of a rehearsal": {brokenSubjects{sample: func(c subjectCall) ([]datamap.SampledRow, error) {
			c.ctx = ports.WithRehearsal(c.ctx)
			return c.readSample()
		}}.breaks, found{"outside of a rehearsal": {subjectRowsAreSampledOnlyInARehearsal}}},
	}
}

// oldSamples makes a store defective: for rows of orders, its Sample returns the rows of the first call.
func oldSamples(store *Store) {
	var first []datamap.SampledRow
	changesSample(func(c subjectCall) ([]datamap.SampledRow, error) {
		rows, err := c.readSample()
		if first == nil || c.sampled.Step.Target != "orders" {
			first = rows
		}
		return first, err
	})(store)
}
