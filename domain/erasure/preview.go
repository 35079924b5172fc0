package erasure

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// Preview does the same as Rehearse, and calls show for each local step, in the order of the plan, with up to limit
// rows before and after the erasure. It calls show after the rollback, and not if the erasure is refused. It returns
// the error of show.
//
// The rows hold values of the subject. They are only for an operator at a terminal.
func (e *Eraser) Preview(
	ctx context.Context, sessions ports.SessionFactory, subject domain.Subject, limit int,
	show func(datamap.StepSample) error,
) (datamap.Rehearsal, error) {
	run, rehearsal, err := e.rehearse(ctx, sessions, subject, limit)
	if err != nil || rehearsal.Refused != nil {
		return rehearsal, err
	}
	for i, sample := range run.samples {
		sample.Step = rehearsal.Steps[i]
		if err := show(sample); err != nil {
			return rehearsal, err
		}
	}
	return rehearsal, nil
}

// sampleBefore reads rows of each step before the erasure. It does nothing without a preview.
func (r *run) sampleBefore(ctx context.Context, steps []datamap.Step) error {
	if r.limit <= 0 {
		return nil
	}
	for _, step := range steps {
		columns := plan.SampleColumns(r.dataMap, step)
		rows, err := r.session.Subjects().Sample(ctx, r.id, plan.SampleQuery{Step: step, Columns: columns, Limit: r.limit})
		if err != nil {
			return err
		}
		path, _ := r.dataMap.PathVia(step.Target, step.Via)
		r.samples = append(r.samples, datamap.StepSample{Path: path, Columns: columns, Before: rows})
	}
	return nil
}

// sampleAfter reads the same rows after the erasure.
func (r *run) sampleAfter(ctx context.Context, steps []datamap.Step) error {
	for i := range r.samples {
		sample := &r.samples[i]
		keys := [][]domain.PrivateValue{}
		for _, row := range sample.Before {
			keys = append(keys, row.Key)
		}
		rows, err := r.session.Subjects().Sample(ctx, r.id, plan.SampleQuery{
			Step: steps[i], Columns: sample.Columns, Keys: keys, Limit: r.limit,
		})
		if err != nil {
			return err
		}
		for _, key := range keys {
			sample.After = append(sample.After, rowOf(rows, key))
		}
	}
	return nil
}

// rowOf returns the row with the primary key, or nil.
func rowOf(rows []datamap.SampledRow, key []domain.PrivateValue) *datamap.SampledRow {
	i := slices.IndexFunc(rows, func(row datamap.SampledRow) bool { return slices.Equal(row.Key, key) })
	if i < 0 {
		return nil
	}
	return &rows[i]
}
