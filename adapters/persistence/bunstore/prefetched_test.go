package bunstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// The last statement of Apply prefetches the latest consents. Later reads in the session must return the same consents,
// and also the consents that the session appends after Apply.
func TestConsentsInForceAreTheSameAfterTheSteps(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newApplication(t, db, nil, (*visitor)(nil))
		id := subjectID(t, "1")
		record := func(purpose string, granted bool) domain.ConsentRecord {
			return domain.ConsentRecord{
				SubjectID: id, Purpose: purpose, PolicyVersion: `"v" \ ü`, Granted: granted, Source: "it's",
				RecordedAt: time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC),
			}
		}
		must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			for _, r := range []domain.ConsentRecord{record("b", true), record("a", true), record("b", false)} {
				must(t, s.Consents().Append(ctx, r))
			}
			return nil
		}))
		inForce := func(ctx context.Context, s ports.Session) []domain.ConsentRecord {
			records, err := s.Consents().InForce(ctx, id)
			must(t, err)
			return records
		}
		var before, after, grown []domain.ConsentRecord
		must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			before = inForce(ctx, s)
			return nil
		}))
		must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			must(t, errOf(s.Subjects().Lock(ctx, id, noon)))
			_, err := s.Subjects().Apply(ctx, id, []datamap.Step{{Target: "visitors", Strategy: domain.StrategyRetain}})
			must(t, err)
			after = inForce(ctx, s)
			must(t, s.Consents().Append(ctx, record("c", true)))
			grown = inForce(ctx, s)
			return nil
		}))
		if len(before) != 2 || !slices.Equal(before, after) || len(grown) != 3 {
			t.Errorf("before the steps %+v, after them %+v, with one more %+v", before, after, grown)
		}
	})
}
