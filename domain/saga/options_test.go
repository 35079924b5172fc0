package saga_test

import (
	"reflect"
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
