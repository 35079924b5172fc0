package saga_test

import (
	"context"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain/saga"
)

// A call that is not about an entry, such as one of an export, waits for the slots of the system.
func TestAdmitSharesTheSlotsOfASystem(t *testing.T) {
	w := newWorld(t, func(c *saga.Config) { c.Concurrency = 1 }, desk(t, responds(true, nil)))
	leave, ok := w.Admit(t.Context(), "desk")
	if !ok {
		t.Fatal("the first call is not admitted")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, ok := w.Admit(ctx, "desk"); ok {
		t.Error("a second call is admitted")
	}
	leave()
	if leave, ok = w.Admit(t.Context(), "desk"); !ok {
		t.Fatal("no call is admitted after the first one")
	}
	leave()
	if _, ok := w.Admit(ctx, "unknown"); !ok {
		t.Error("a system without entries has limits")
	}
}
