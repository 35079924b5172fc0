package stack_test

import "testing"

// An application that replaces the Eraser may have hooks that Stack.Hooks does not tell of. The stand-alone program
// must still refuse its own erasures.
func TestTheHooksOfTheEraserCount(t *testing.T) {
	w := newWorld(t)
	w.Hooks = false
	if erases := w.Erases(); !erases.Hooks || len(erases.Resolvers) != 1 {
		t.Errorf("got %+v", erases)
	}
}
