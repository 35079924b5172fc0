package export_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// keyWorld is an exporter for an application. The rows of its users hold keys of the external system "media".
type keyWorld struct {
	world
	media *mocks.MockKeyResolver
}

func newKeyWorld(t *testing.T, timeout time.Duration) keyWorld {
	t.Helper()
	ctrl := gomock.NewController(t)
	w := keyWorld{world: newWorld(t, timeout), media: mocks.NewMockKeyResolver(ctrl)}
	w.media.EXPECT().Name().Return("media").AnyTimes()
	dataMap := fixture.MustMap(t, datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "avatar", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryIdentity, Strategy: domain.StrategyAnonymize, Ref: "media",
			}},
		},
	})
	var err error
	w.Exporter, err = export.NewExporter(export.Config{
		Clock: fixture.NewClock(noon), IDs: &fixture.IDs{}, DataMap: dataMap, ResolverTimeout: timeout,
		Resolvers: []ports.Resolver{w.media},
	})
	if err != nil {
		t.Fatal(err)
	}
	if w.Subject, err = domain.NewSubject("42"); err != nil {
		t.Fatal(err)
	}
	w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any()).AnyTimes()
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).AnyTimes()
	w.Subjects.EXPECT().Export(gomock.Any(), gomock.Any(), gomock.Any()).AnyTimes()
	return w
}

func (w keyWorld) expectKeys(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("%07d", i))
	}
	w.Subjects.EXPECT().Keys(gomock.Any(), w.ID, gomock.Any()).DoAndReturn(
		func(_ context.Context, _ domain.SubjectID, q plan.KeyQuery) ([]string, error) {
			i := 0
			for i < len(keys) && keys[i] <= q.After {
				i++
			}
			return slices.Clone(keys[i:min(len(keys), i+q.Limit)]), nil
		}).AnyTimes()
	return keys
}

func TestKeysAreSentInBoundedBatches(t *testing.T) {
	w := newKeyWorld(t, time.Minute)
	keys := w.expectKeys(25_050)
	var called []string
	w.media.EXPECT().ExportKeys(gomock.Any(), gomock.Any()).DoAndReturn(
		func(ctx context.Context, batch []string) ([]domain.ExportRecord, error) {
			if _, limited := ctx.Deadline(); !limited || len(batch) == 0 || len(batch) > datamap.MaxKeys {
				t.Errorf("a call for %d keys, with a deadline: %v", len(batch), limited)
			}
			called = append(called, batch...)
			return []domain.ExportRecord{{Field: "f", Row: batch[0], Category: domain.CategoryIdentity, Value: "v"}}, nil
		}).Times(251)
	bundle, err := w.Export(t.Context(), w.Session, w.Subject)
	if err != nil || !slices.Equal(called, keys) || len(bundle.Records) != 251 || len(bundle.IncompleteSources) > 0 ||
		bundle.Records[0].Source != "media" {
		t.Errorf("got %d records, incomplete %v, %v", len(bundle.Records), bundle.IncompleteSources, err)
	}
}

func TestASystemThatFailsForKeysIsIncomplete(t *testing.T) {
	tooMuch := make([]byte, 64<<20) // a loaded machine may need longer for it than the call may take
	for name, second := range map[string]func(ctx context.Context) ([]domain.ExportRecord, error){
		"an error":  func(context.Context) ([]domain.ExportRecord, error) { return nil, errBoom },
		"a panic":   func(context.Context) ([]domain.ExportRecord, error) { panic("boom") },
		"a timeout": func(ctx context.Context) ([]domain.ExportRecord, error) { <-ctx.Done(); return nil, ctx.Err() },
		"too much": func(context.Context) ([]domain.ExportRecord, error) {
			return []domain.ExportRecord{{
				Field: "f", Row: "r", Category: domain.CategoryIdentity, Value: tooMuch,
			}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newKeyWorld(t, 50*time.Millisecond)
			w.expectKeys(500)
			calls := 0
			w.media.EXPECT().ExportKeys(gomock.Any(), gomock.Any()).DoAndReturn(
				func(ctx context.Context, batch []string) ([]domain.ExportRecord, error) {
					if calls++; calls == 2 {
						return second(ctx)
					}
					return []domain.ExportRecord{{Field: "f", Row: batch[0], Category: domain.CategoryIdentity}}, nil
				}).Times(2)
			bundle, err := w.Export(t.Context(), w.Session, w.Subject)
			if err != nil || len(bundle.Records) != 1 || !slices.Equal(bundle.IncompleteSources, []string{"media"}) {
				t.Errorf("got %d records, incomplete %v, %v", len(bundle.Records), bundle.IncompleteSources, err)
			}
		})
	}
}

func TestAnExportWhoseKeysCannotBeReadFails(t *testing.T) {
	w := newKeyWorld(t, time.Minute)
	w.Subjects.EXPECT().Keys(gomock.Any(), gomock.Any(), gomock.Any()).Return(nil, domain.ErrUnavailable)
	if _, err := w.Export(t.Context(), w.Session, w.Subject); err == nil {
		t.Error("the export went on")
	}
}
