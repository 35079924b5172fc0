package check_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/ports/mocks"
	"github.com/habeas-data/habeas/tool/check"
)

func (w *world) coverage(t *testing.T) check.Coverage {
	t.Helper()
	dataMap, err := datamap.NewDataMap(w.tables...)
	must(t, err)
	plan, err := erasure.Planner{}.Plan(dataMap, nil)
	must(t, err)
	reader := mocks.NewMockCatalogReader(gomock.NewController(t))
	reader.EXPECT().Catalog(gomock.Any()).Return(w.catalog, nil)
	w.undecided = true
	dataMap = w.dataMapOf(dataMap)
	covered, err := check.Cover(t.Context(), reader, dataMap, plan, check.Options{Clock: today{}})
	must(t, err)
	return covered
}

func TestTheCoverageCountsColumns(t *testing.T) {
	w := newWorld()
	w.field("users", "theme").NotPersonal = true
	w.add("users", "fax", datamap.TypeText)
	w.add("users", "upper", datamap.TypeText)
	w.column("users", "upper").Generated = true
	w.addTable("places") // needs no decision
	w.live("places").Columns[0].Type, w.live("places").Columns[0].Declared = datamap.TypeNumber, "real"
	w.addTable("letters", "body")
	w.refer("letters", "user_id", datamap.ActionNone)
	covered := w.coverage(t)
	want := []check.TableCoverage{
		{"letters", false, 0, 2, []string{"body"}},
		{"orders", true, 1, 3, []string{}},
		{"sessions", true, 1, 2, []string{}},
		{"users", true, 2, 3, []string{"fax"}},
	}
	slices.SortFunc(covered.Tables, func(a, b check.TableCoverage) int {
		return slices.IndexFunc(want, func(w check.TableCoverage) bool { return w.Table == a.Table }) -
			slices.IndexFunc(want, func(w check.TableCoverage) bool { return w.Table == b.Table })
	})
	if !slices.EqualFunc(covered.Tables, want, func(a, b check.TableCoverage) bool {
		return a.Table == b.Table && a.Mapped == b.Mapped && a.Annotated == b.Annotated && a.Excluded == b.Excluded &&
			slices.Equal(a.Undecided, b.Undecided)
	}) {
		t.Errorf("got  %+v\nwant %+v", covered.Tables, want)
	}
	if covered.Annotated != 4 || covered.Excluded != 10 || covered.Undecided != 2 || covered.Percent != 1400.0/16 {
		t.Errorf("got %+v", covered)
	}
}

func TestATableIsUndecidedUntilItsQuestionIsAnswered(t *testing.T) {
	w := newWorld()
	asked("", "", seenLeads...)(w)
	before := w.coverage(t)
	w.decisions[0].Answer, w.decisions[0].Because = "not-about-people", "only companies"
	if decided := w.coverage(t); decided.Undecided != before.Undecided-1 || len(decided.LeftOut) != 1 {
		t.Errorf("before %+v, with a decision %+v", before, decided)
	}
	w.add("leads", "phone", datamap.TypeText)
	if changed := w.coverage(t); changed.Undecided != before.Undecided {
		t.Errorf("before %+v, with a new column %+v", before, changed)
	}
}

func TestACoverageWithoutACatalogIsAnError(t *testing.T) {
	reader := mocks.NewMockCatalogReader(gomock.NewController(t))
	reader.EXPECT().Catalog(gomock.Any()).Return(datamap.Catalog{}, domain.ErrUnavailable)
	dataMap, err := datamap.NewDataMap(newWorld().tables...)
	must(t, err)
	_, err = check.Cover(t.Context(), reader, dataMap, datamap.Plan{Steps: []datamap.Step{}}, check.Options{})
	if !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
