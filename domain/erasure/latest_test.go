package erasure_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/mocked"
)

// The column is kept for two people, by two steps.
func TestARetainedColumnHasTheLatestEndOfItsSteps(t *testing.T) {
	text := personal("text", keep)
	text.Personal.Via, text.Personal.Since, text.Personal.Retain = "From,To", "sent_at", datamap.Period{Years: 10}
	person := func(name string) datamap.Relation {
		return datamap.Relation{
			Name: name, Columns: []string{name}, References: "users", ReferencedColumns: []string{"id"}, Path: true,
		}
	}
	dataMap := fixture.MustMap(t, users(personal("email", anon)), datamap.Table{
		Name: "letters", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{person("From"), person("To")},
		Columns: []datamap.Column{plain("id"), plain("From"), plain("To"), {Name: "sent_at", Type: datamap.TypeTime}, text},
	})
	early, late, never := noon.Add(time.Hour), noon.Add(time.Minute*90), time.Time{}
	for what, test := range map[string]struct{ from, to, want time.Time }{
		"the later one":            {early, late, late},
		"the first one":            {late, early, late},
		"no known end, then one":   {never, late, never},
		"an end, then no known":    {late, never, never},
		"one that is over":         {noon, early, early},
		"one that is over at last": {early, noon, early},
		"none, as both are over":   {noon, noon, noon},
	} {
		b := mocked.New(t, noon)
		eraser, err := erasure.NewEraser(erasure.Config{Clock: b.Clock, IDs: b.IDs, DataMap: dataMap})
		if err != nil {
			t.Fatal(err)
		}
		w := world{eraser, b}
		w.allowStores()
		w.locks()
		w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any()).AnyTimes()
		w.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).AnyTimes()
		w.Subjects.EXPECT().Apply(gomock.Any(), w.ID, gomock.Any()).DoAndReturn(
			func(_ context.Context, _ domain.SubjectID, steps []datamap.Step) (domain.Applied, error) {
				latest := map[int]map[string]time.Time{}
				for i, step := range steps {
					if end := map[string]time.Time{"From": test.from, "To": test.to}[step.Via]; step.Strategy == keep {
						latest[i] = map[string]time.Time{"text": end}
					}
				}
				return domain.Applied{Rows: slices.Repeat([]int64{1}, len(steps)), Latest: latest}, nil
			})
		result, err := w.Erase(t.Context(), w.Session, w.Subject)
		ends := []time.Time{}
		for _, field := range result.RetainedFields {
			ends = append(ends, field.Until.Latest)
		}
		want := slices.DeleteFunc([]time.Time{test.want}, noon.Equal)
		if err != nil || !slices.Equal(ends, want) {
			t.Errorf("%s: %+v, %v", what, result.RetainedFields, err)
		}
	}
}
