package bunstore

import (
	"context"
	"database/sql"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Sample implements ports.SubjectStore.
func (s subjectStore) Sample(
	ctx context.Context, id domain.SubjectID, query domain.SampleQuery,
) (found []domain.SampledRow, err error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if err := s.usable(); err != nil {
		return nil, err
	}
	if !ports.Rehearsing(ctx) {
		return nil, &domain.Error{Code: domain.ErrSession, Op: "sample", Message: "is only for a rehearsal"}
	}
	if _, err := s.store.text.DataMap.CheckSteps([]domain.Step{query.Step}); err != nil {
		return nil, err
	}
	if query.Limit <= 0 && query.Keys == nil || query.Keys != nil && len(query.Keys) == 0 {
		return nil, nil
	}
	live, err := s.readCatalog(ctx, id, key)
	if err != nil {
		return nil, err
	}
	table, _ := s.store.text.DataMap.Table(query.Step.Target)
	text, args := s.store.text.Sample(live, query, key)
	err = s.read(ctx, "sample", func(rows *sql.Rows) error {
		held := make([]sql.NullString, len(table.PrimaryKey)+len(query.Columns))
		targets, values := make([]any, len(held)), make([]domain.PrivateValue, len(held))
		for i := range held {
			targets[i] = &held[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for i, value := range held {
			if values[i] = domain.NewPrivateValue(value.String); !value.Valid {
				values[i] = domain.NullValue()
			}
		}
		found = append(found, domain.SampledRow{Key: values[:len(table.PrimaryKey)], Values: values[len(table.PrimaryKey):]})
		return nil
	}, text, args...)
	if err != nil {
		return nil, s.explain(ctx, "sample", err, catalog.ToRead(table.Name))
	}
	return found, nil
}
