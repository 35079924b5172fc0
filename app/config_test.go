package app_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// person returns the data map of a table of people, and a store with this table.
func person(t *testing.T) (datamap.DataMap, *memory.Store) {
	t.Helper()
	dataMap := fixture.MustMap(t, datamap.Table{
		Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "mail", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact}},
		},
	})
	store, err := memory.New(dataMap, memory.Options{})
	must(t, err)
	return dataMap, store
}

// Beside Stack, a Config has exactly these fields. Every other field would have no effect, so it is refused.
func TestTheFieldsBesideAStack(t *testing.T) {
	beside := []string{
		"RequestTimeout", "Logger", "PollInterval", "Workers", "Health", "SweepInterval", "VerifyAfter", "Journal",
		"JournalInterval", "JournalKey",
	}
	dataMap, store := person(t)
	wired, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	must(t, err)
	config := app.Config{}
	for _, field := range settings(reflect.ValueOf(&config).Elem(), "") {
		config = app.Config{Stack: &wired}
		field.value.Set(field.other)
		_, err := app.New(config)
		refused := err != nil && strings.Contains(err.Error(), "not both")
		if refused == slices.Contains(beside, strings.Split(field.name, ".")[0]) {
			t.Errorf("%s: got %v", field.name, err)
		}
	}
}

// setting is a field of a Config, with a value other than the zero value.
type setting struct {
	name         string
	value, other reflect.Value
}

// settings returns the fields of a struct, also those of the structs in it, but no Stack and no interfaces. The table
// of TestAnIntegrationNeedsModelsOrAStack has these.
func settings(of reflect.Value, prefix string) (all []setting) {
	for _, field := range reflect.VisibleFields(of.Type()) {
		value, name := of.FieldByIndex(field.Index), prefix+field.Name
		switch {
		case field.Name == "Stack" || !field.IsExported():
		case value.Kind() == reflect.Struct && field.Type != reflect.TypeFor[datamap.DataMap]():
			if !field.Anonymous {
				all = append(all, settings(value, name+".")...)
			}
		case value.Kind() == reflect.Pointer:
			all = append(all, setting{name, value, reflect.New(field.Type.Elem())})
		case value.Kind() == reflect.Func:
			all = append(all, setting{name, value, reflect.MakeFunc(field.Type, nil)})
		case value.Kind() == reflect.Slice:
			all = append(all, setting{name, value, reflect.MakeSlice(field.Type, 1, 1)})
		case value.Kind() == reflect.Map:
			other := reflect.MakeMap(field.Type)
			other.SetMapIndex(reflect.Zero(field.Type.Key()), reflect.Zero(field.Type.Elem()))
			all = append(all, setting{name, value, other})
		case value.CanInt():
			all = append(all, setting{name, value, reflect.ValueOf(int64(1)).Convert(field.Type)})
		case value.Kind() == reflect.Bool:
			all = append(all, setting{name, value, reflect.ValueOf(true)})
		case value.Kind() == reflect.String:
			all = append(all, setting{name, value, reflect.ValueOf("x")})
		}
	}
	return all
}

// A table that a person has left out is a decision, as in a manifest. It needs the columns that the person saw, and a
// reason.
func TestTablesThatAreLeftOutAreDecisions(t *testing.T) {
	dataMap, _ := person(t)
	config := app.Config{DB: databases.SQLite(t), DataMap: dataMap, LeftOut: []datamap.LeftOut{
		{Table: "visits", Columns: []string{"id", "day"}, Because: "counts only"},
		{Table: "legacy.*", Because: "read only"},
	}}
	gdpr, err := app.New(config)
	must(t, err)
	got := gdpr.DataMap().Decisions()
	if len(got) != 2 || got[0].IsOpen() || !slices.Equal(got[0].Seen, []string{"id", "day"}) ||
		got[1].Because != "read only" {
		t.Errorf("got %+v", got)
	}
	for _, wrong := range []datamap.LeftOut{
		{Table: "visits", Because: "counts only"},
		{Table: "visits", Columns: []string{"id"}},
		{Columns: []string{"id"}, Because: "counts only"},
	} {
		config.LeftOut = []datamap.LeftOut{wrong}
		if _, err := app.New(config); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

func TestTheAuthorityOfAnswersIsChecked(t *testing.T) {
	dataMap, _ := person(t)
	config := app.Config{DB: databases.SQLite(t), DataMap: dataMap}
	config.Controller.Authority.URL = "https://authority.example"
	if _, err := app.New(config); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("without a name: %v", err)
	}
	config.Controller.Authority.Name = "the authority"
	if _, err := app.New(config); err != nil {
		t.Error(err)
	}
}

// The acceptances of the data map and of the Config count, and both need a reason and an end.
func TestAcceptancesAreAddedToThoseOfTheDataMap(t *testing.T) {
	dataMap, _ := person(t)
	ofMap := datamap.Acceptance{Rule: "index-missing", Table: "people", Reason: "is small", Until: "9999-12-31"}
	ofConfig := ofMap
	ofConfig.Table = "visits"
	config := app.Config{
		DB: databases.SQLite(t), DataMap: dataMap.WithAccepted(ofMap), Accepted: []datamap.Acceptance{ofConfig},
	}
	gdpr, err := app.New(config)
	must(t, err)
	if got := gdpr.DataMap().Accepted(); !slices.Equal(got, []datamap.Acceptance{ofMap, ofConfig}) {
		t.Errorf("got %v", got)
	}
	config.Accepted[0].Until = ""
	if _, err := app.New(config); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("without an end: %v", err)
	}
	config.Accepted[0] = ofMap
	if _, err := app.New(config); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("the same finding twice: %v", err)
	}
}
