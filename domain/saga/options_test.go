package saga_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain/saga"
)

func TestOptionsAreDefaultOnlyIfEveryFieldIs(t *testing.T) {
	if !saga.IsDefault(saga.Options{}) {
		t.Error("the zero value is not the default")
	}
	for i := range reflect.TypeFor[saga.Options]().NumField() {
		var options saga.Options
		field := reflect.ValueOf(&options).Elem().Field(i)
		switch {
		case field.CanInt():
			field.SetInt(int64(time.Second))
		case field.Kind() == reflect.Map:
			field.Set(reflect.MakeMap(field.Type()))
		case field.Kind() == reflect.Func:
			field.Set(reflect.MakeFunc(field.Type(), nil))
		}
		if name := reflect.TypeFor[saga.Options]().Field(i).Name; saga.IsDefault(options) {
			t.Errorf("options with %s are the default", name)
		}
	}
}

func TestANegativeFieldIsNamed(t *testing.T) {
	for i := range reflect.TypeFor[saga.Options]().NumField() {
		c := newWorld(t, nil).Configured()
		field := reflect.ValueOf(&c.Options).Elem().Field(i)
		if !field.CanInt() {
			continue
		}
		field.SetInt(-1)
		want := reflect.TypeFor[saga.Options]().Field(i).Name + " must not be negative"
		if _, err := saga.NewRunner(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
