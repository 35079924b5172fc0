package httpapi_test

import (
	"context"
	"io"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// tenant is the key of a context value. An application could use such a value to select a database connection.
type tenant struct{}

func TestWorkBehindAStreamSeesTheValuesOfAContextThatLasts(t *testing.T) {
	for _, lasts := range []bool{true, false} {
		f := newFixture(t)
		f.sessions.Rows = large()
		seen := make(chan any, 1)
		f.sessions.After = func(ctx context.Context) { seen <- ctx.Value(tenant{}) }
		ctx := context.WithValue(t.Context(), tenant{}, "acme")
		response := f.Handle(ctx, f.Endpoints()[2], httpapi.Request{Subject: as("42"), ContextOutlivesHandle: lasts})
		if _, err := io.Copy(io.Discard, response.Stream); err != nil {
			t.Fatal(err)
		}
		if got := <-seen; (got == "acme") != lasts {
			t.Errorf("a context that lasts (%v) has the value %v at the end", lasts, got)
		}
	}
}
