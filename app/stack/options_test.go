package stack_test

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports/mocks"
)

func TestOptionsAreTheDefaultOnlyIfEveryFieldIsZero(t *testing.T) {
	if !stack.IsDefault(stack.Options{}) {
		t.Error("the zero value is not the default")
	}
	for name, options := range map[string]stack.Options{
		"ResolverTimeout": {ResolverTimeout: time.Second},
		"Saga":            {Saga: saga.Options{Batch: 1}},
		"IDs":             {IDs: &mocks.MockIDSource{}},
		"Observer":        {Observer: &mocks.MockObserver{}},
	} {
		if stack.IsDefault(options) {
			t.Errorf("options with %s are the default", name)
		}
	}
}

// An application that replaces the Eraser may have hooks that Stack.Hooks does not tell of. The stand-alone program
// must still refuse its own erasures.
func TestTheHooksOfTheEraserCount(t *testing.T) {
	w := newWorld(t)
	w.Hooks = false
	if erases := w.Erases(); !erases.Hooks || len(erases.Resolvers) != 1 {
		t.Errorf("got %+v", erases)
	}
}
