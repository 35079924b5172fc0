package app_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

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
	for _, field := range reflect.VisibleFields(reflect.TypeFor[app.Config]()) {
		config := app.Config{Stack: &wired}
		set := reflect.ValueOf(&config).Elem().FieldByIndex(field.Index)
		switch {
		case field.Name == "Stack" || field.Anonymous:
			continue
		case set.CanInt():
			set.SetInt(int64(time.Hour))
		case set.Kind() == reflect.Bool:
			set.SetBool(true)
		case set.Kind() == reflect.String:
			set.SetString("x")
		case set.Kind() == reflect.Slice:
			set.Set(reflect.MakeSlice(set.Type(), 1, 1))
		default:
			continue // the table of TestAnIntegrationNeedsModelsOrAStack has such fields
		}
		_, err := app.New(config)
		refused := err != nil && strings.Contains(err.Error(), "not both")
		if refused == slices.Contains(beside, field.Name) {
			t.Errorf("%s: got %v", field.Name, err)
		}
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
