package saga_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/saga"
)

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
