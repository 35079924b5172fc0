package app_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
)

// Beside Stack, a Config has exactly these fields. Every other field would have no effect, so it is refused.
func TestTheFieldsBesideAStack(t *testing.T) {
	beside := []string{
		"RequestTimeout", "Logger", "PollInterval", "Workers", "Health", "SweepInterval", "VerifyAfter", "Journal",
		"JournalInterval",
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
