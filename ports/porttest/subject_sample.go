package porttest

import (
	"context"
	"strconv"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// sample returns rows of zoe. If it fails, the case fails.
func sample(ctx context.Context, t testing.TB, s ports.Session, query plan.SampleQuery) []datamap.SampledRow {
	t.Helper()
	rows, err := s.Subjects().Sample(ctx, zoe.id(t), query)
	must(t, err == nil, "rows cannot be sampled: %v", err)
	return rows
}

// holds reports whether a sampled row has the key and the value.
func holds(row datamap.SampledRow, key int64, value string) bool {
	return len(row.Key) == 1 && row.Key[0] == domain.NewPrivateValue(strconv.FormatInt(key, 10)) &&
		len(row.Values) == 1 && row.Values[0] == domain.NewPrivateValue(value)
}

func subjectRowsAreSampled(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	gone, kept := deleteStep(t, "addresses"), retainStep(t, "invoices")
	err := rehearse(t, s.Store, func(ctx context.Context, session ports.Session) error {
		before := sample(ctx, t, session, plan.SampleQuery{Step: gone, Columns: []string{"street"}, Limit: 2})
		assert(t, len(before) == 2 && holds(before[0], zoe.ids, zoe.says("street")) &&
			holds(before[1], zoe.ids+1, zoe.says("street")), "%d rows are not the first two of the subject", len(before))
		all := sample(ctx, t, session, plan.SampleQuery{Step: gone, Columns: []string{"street"}, Limit: 50})
		assert(t, len(all) == 3, "%d rows of the subject are sampled, want 3", len(all))
		retained := sample(ctx, t, session, plan.SampleQuery{Step: kept, Columns: []string{"address"}, Limit: 1})
		must(t, len(retained) > 0, "no row of another step is sampled")
		if _, err := session.Subjects().Apply(ctx, zoe.id(t), []datamap.Step{gone, kept}); err != nil {
			return err
		}
		after := sample(ctx, t, session, plan.SampleQuery{
			Step: gone, Columns: []string{"street"}, Keys: [][]domain.PrivateValue{before[1].Key, before[0].Key},
		})
		assert(t, len(after) == 0, "%d deleted rows are sampled", len(after))
		again := sample(ctx, t, session, plan.SampleQuery{
			Step: kept, Columns: []string{"address"}, Keys: [][]domain.PrivateValue{retained[0].Key},
		})
		assert(t, len(again) == 1 && holds(again[0], zoe.ids, zoe.says("address")), "a kept row is not sampled again")
		return nil
	})
	assert(t, err == nil, "the rehearsal failed: %v", err)
}

func subjectRowsAreSampledWithTheirNewValues(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	step := anonymizeStep(t, "orders")
	query := plan.SampleQuery{Step: step, Columns: []string{"note"}, Limit: 1}
	err := rehearse(t, s.Store, func(ctx context.Context, session ports.Session) error {
		before := sample(ctx, t, session, query)
		must(t, len(before) == 1 && holds(before[0], zoe.ids, zoe.says("note")), "the row is not sampled")
		if _, err := session.Subjects().Apply(ctx, zoe.id(t), []datamap.Step{step}); err != nil {
			return err
		}
		query.Keys = [][]domain.PrivateValue{before[0].Key}
		after := sample(ctx, t, session, query)
		assert(t, len(after) == 1 && after[0].Values[0] != before[0].Values[0], "the row has no new value")
		return nil
	})
	assert(t, err == nil, "the rehearsal failed: %v", err)
}

func subjectRowsAreSampledOnlyInARehearsal(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		rows, err := subjects.Sample(ctx, zoe.id(t), plan.SampleQuery{
			Step: deleteStep(t, "addresses"), Columns: []string{"street"}, Limit: 1,
		})
		assert(t, len(rows) == 0, "%d rows are sampled outside of a rehearsal", len(rows))
		return err
	})
	isError(t, "a sample outside of a rehearsal", err, domain.ErrSession)
}
