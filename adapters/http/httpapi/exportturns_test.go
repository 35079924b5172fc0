package httpapi_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/ports"
)

// held is a SessionFactory that counts its sessions, and holds each until the test releases it.
type held struct {
	ports.SessionFactory
	begun    atomic.Int32
	released chan struct{}
}

func (h *held) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	h.begun.Add(1)
	<-h.released
	return h.SessionFactory.Do(ctx, fn)
}

// Each export calls all external systems. Many exports of one person therefore run one after another, also over several
// routers of one API, and keep no other person waiting.
func TestOneExportOfAPersonRunsAtATime(t *testing.T) {
	f := newFixture(t)
	synctest.Test(t, func(t *testing.T) {
		h := &held{SessionFactory: f.sessions, released: make(chan struct{})}
		api := f.With(httpapi.WithSession(h))
		statuses := make(chan int, 4)
		for _, id := range []string{"42", "42", "42", "43"} {
			go func() {
				other := api.With()
				statuses <- other.Handle(t.Context(), other.Endpoints()[2], httpapi.Request{Subject: as(id)}).Status
			}()
		}
		for _, begun := range []int32{2, 3, 4} {
			synctest.Wait()
			if n := h.begun.Load(); n != begun {
				t.Errorf("%d exports have begun, want %d", n, begun)
			}
			for range h.begun.Load() - int32(len(statuses)) {
				h.released <- struct{}{}
			}
		}
		for range cap(statuses) {
			if status := <-statuses; status != 200 {
				t.Errorf("got status %d", status)
			}
		}
		for range 2 { // the same id in two databases
			go func() {
				other := api.With(httpapi.WithSession(h))
				statuses <- other.Handle(t.Context(), other.Endpoints()[2], httpapi.Request{Subject: as("42")}).Status
			}()
		}
		synctest.Wait()
		if n := h.begun.Load(); n != 6 {
			t.Errorf("%d exports have begun, want 6", n)
		}
		close(h.released)
	})
}
