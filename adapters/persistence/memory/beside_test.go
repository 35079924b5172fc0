package memory_test

import (
	"context"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// peopleIn returns a subject's table with an email, and with a further column.
func peopleIn(name, further string) datamap.Table {
	return datamap.Table{
		Name: name, PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: further, Type: datamap.TypeText},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
			}},
		},
	}
}

func TestStoresBesideEachOtherShareTheTablesOfTheApplication(t *testing.T) {
	const sought = "zoe@example.org"
	id := fixture.MustID(t, "1")
	reason := "from " + sought
	customers := newStore(t, memory.Options{}, peopleIn("customers", "city"))
	employees := newStore(t, memory.Options{Name: "staff", Beside: customers}, peopleIn("employees", "desk"))
	insert(t, customers, "customers", memory.Row{"id": 1, "email": sought})
	insert(t, employees, "employees", memory.Row{"id": 1, "email": sought})
	for _, store := range []*memory.Store{customers, employees} {
		must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			return s.Restrictions().Append(ctx, domain.RestrictionRecord{
				SubjectID: id, Restricted: true, Reason: &reason, RecordedAt: noon, Source: "api",
			})
		}))
	}
	for own, store := range map[string]*memory.Store{
		"habeas_restriction_records": customers, "habeas_staff_restriction_records": employees,
	} {
		found, err := store.Find(t.Context(), []string{sought}, nil)
		must(t, err)
		want := []string{"customers.email", "employees.email", own + ".reason"}
		var got []string
		for _, o := range found.Occurrences {
			got = append(got, o.Table+"."+o.Column)
		}
		if !slices.Equal(got, want) {
			t.Errorf("Find found %q, want %q", got, want)
		}
		live, err := store.Catalog(t.Context())
		must(t, err)
		if len(live.Tables) != 2 || live.Tables[0].Name != "customers" || live.Tables[1].Name != "employees" ||
			live.Tables[0].Rows != 1 || live.Tables[1].Rows != 1 {
			t.Errorf("the catalog has %+v", live.Tables)
		}
	}
}

func TestATableOfTwoDataMapsHasTheColumnsOfBoth(t *testing.T) {
	first := newStore(t, memory.Options{}, peopleIn("people", "city"))
	second := newStore(t, memory.Options{Name: "staff", Beside: first}, peopleIn("people", "desk"))
	live, err := second.Catalog(t.Context())
	must(t, err)
	var columns []string
	for _, column := range live.Tables[0].Columns {
		columns = append(columns, column.Name)
	}
	if want := []string{"id", "desk", "email", "city"}; len(live.Tables) != 1 || !slices.Equal(columns, want) {
		t.Errorf("the catalog has %d tables, the first with the columns %q, want %q", len(live.Tables), columns, want)
	}
}
