package memory_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

func TestACreationTimeMayBeATextOrANumber(t *testing.T) {
	created := time.Date(2024, 3, 1, 12, 30, 15, 123_456_000, time.UTC)
	for kind, value := range map[datamap.ColumnType]any{
		datamap.TypeTime: created, datamap.TypeText: "2024-03-01 14:30:15.123456+02", datamap.TypeBigInt: created.UnixMicro(),
		datamap.TypeNumber: domain.Number("1709296215.123456"),
	} {
		dataMap := fixture.MustMap(t, datamap.Table{
			Name: "members", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{{Name: "id", Type: datamap.TypeInteger}, {Name: "created_at", Type: kind}},
		}, datamap.Table{
			Name: "notes", PrimaryKey: []string{"id"}, Owned: true,
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeInteger},
				{Name: "member", Type: datamap.TypeInteger},
				{Name: "created_at", Type: kind},
			},
			Relations: []datamap.Relation{{
				Columns: []string{"member"}, References: "members", ReferencedColumns: []string{"id"},
			}},
		})
		store, err := memory.New(dataMap, memory.Options{})
		must(t, err)
		insert(t, store, "members", memory.Row{"id": 1, "created_at": value}, memory.Row{"id": 2})
		insert(t, store, "notes", memory.Row{"id": 1, "member": 1, "created_at": value})
		err = store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			for _, id := range []string{"1", "2"} {
				if _, err := s.Subjects().Lock(ctx, subject(t, id), created); err != nil {
					return err
				}
			}
			marks, err := s.Erased().Marks(ctx, domain.MarkQuery{Limit: 2})
			if len(marks) != 2 || marks[0].AddedAt != created || !marks[1].AddedAt.IsZero() {
				t.Errorf("%s: the marks are %v", kind, marks)
			}
			for at, want := range map[time.Time][]domain.Leftover{
				created: {{Table: "notes", Rows: 1}}, created.Add(-time.Microsecond): nil,
			} {
				found, err := s.Erased().LeftOver(ctx, subject(t, "1"), []datamap.Step{deletes("notes")}, at)
				if err != nil || !slices.Equal(found, want) {
					t.Errorf("%s: after an erasure at %v, got %v, %v", kind, at, found, err)
				}
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
