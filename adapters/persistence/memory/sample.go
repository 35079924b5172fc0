package memory

import (
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// Sample implements ports.SubjectStore.
func (s subjectStore) Sample(
	ctx context.Context, id domain.SubjectID, query plan.SampleQuery,
) ([]datamap.SampledRow, error) {
	state, err := s.readOf(ctx, id)
	if err != nil {
		return nil, err
	}
	if !ports.Rehearsing(ctx) {
		return nil, &domain.Error{Code: domain.ErrSession, Op: "sample", Message: "is only for a rehearsal"}
	}
	if _, err := plan.CheckSteps(s.store.dataMap, []datamap.Step{query.Step}); err != nil {
		return nil, err
	}
	table, _ := s.store.dataMap.Table(query.Step.Target)
	rows, indexes := state.rows[table.Name], []int(nil)
	if query.Keys == nil {
		indexes = slices.DeleteFunc(state.rowsOfStep(id, query.Step), func(i int) bool {
			return !state.concerns(table, i, query.Step)
		})
		indexes = upTo(query.Limit, sortedIndexes(table, rows, indexes))
	}
	for _, key := range query.Keys {
		i := slices.IndexFunc(rows, func(row Row) bool { return slices.Equal(privateValues(row, table.PrimaryKey), key) })
		if i >= 0 {
			indexes = append(indexes, i)
		}
	}
	var found []datamap.SampledRow
	for _, i := range indexes {
		found = append(found, datamap.SampledRow{
			Key: privateValues(rows[i], table.PrimaryKey), Values: privateValues(rows[i], query.Columns),
		})
	}
	return found, nil
}

func privateValues(row Row, columns []string) []domain.PrivateValue {
	values := make([]domain.PrivateValue, len(columns))
	for i, column := range columns {
		if values[i] = domain.NullValue(); row[column] != nil {
			values[i] = domain.NewPrivateValue(textOf(row[column]))
		}
	}
	return values
}
