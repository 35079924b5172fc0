package observation_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
)

// textFields are the fields of type string. Their values come from the set-up of the application or from the list of
// endpoints, never from a client.
var textFields = []string{
	"Activity.Method", "Activity.Route", "Activity.System", "BreakerObserved.System", "OutboxBacklog.Resolver",
}

// The test fails if a field of type string is added. The developer must then decide whether its values are safe for
// metrics.
func TestObservationsHoldNamesCountsAndInstants(t *testing.T) {
	var found []string
	for _, observed := range []any{
		observation.Activity{},
		observation.ActivityEnd{},
		observation.RightObserved{},
		observation.OutboxObserved{},
		observation.BreakerObserved{},
		observation.PollObserved{},
	} {
		found = append(found, textFieldsOf(t, reflect.TypeOf(observed))...)
	}
	if slices.Sort(found); !slices.Equal(found, textFields) {
		t.Errorf("got the text fields %v, want %v", found, textFields)
	}
}

// constantTypes are the text types whose values are constants of package domain.
var constantTypes = []reflect.Type{
	reflect.TypeFor[observation.ActivityKind](), reflect.TypeFor[observation.CallOperation](),
	reflect.TypeFor[domain.Outcome](),
	reflect.TypeFor[observation.SubjectRight](), reflect.TypeFor[observation.Decision](),
	reflect.TypeFor[observation.BreakerState](),
	reflect.TypeFor[domain.OutboxStatus](),
}

func textFieldsOf(t *testing.T, in reflect.Type) (found []string) {
	t.Helper()
	for i := range in.NumField() {
		field := in.Field(i)
		switch ofType := field.Type; {
		case slices.Contains(constantTypes, ofType), ofType.Kind() == reflect.Int:
		case ofType == reflect.TypeFor[time.Time](), ofType == reflect.TypeFor[*time.Time]():
		case ofType == reflect.TypeFor[map[domain.OutboxStatus]int64]():
		case ofType == reflect.TypeFor[[]domain.OutboxBacklog]():
			found = append(found, textFieldsOf(t, ofType.Elem())...)
		case ofType == reflect.TypeFor[string]():
			found = append(found, in.Name()+"."+field.Name)
		default:
			t.Errorf("%s.%s is a %s, which can hold anything", in.Name(), field.Name, ofType)
		}
	}
	return found
}
