package stack_test

import "testing"

// The stand-alone program must refuse its own erasures if an Eraser that replaces the one of New has hooks.
func TestTheHooksOfTheEraserCount(t *testing.T) {
	w := newWorld(t)
	if erases := w.Erases(); !erases.Hooks || len(erases.Resolvers) != 1 {
		t.Errorf("got %+v", erases)
	}
}
