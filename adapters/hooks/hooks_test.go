package hooks_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/adapters/hooks"
)

type key struct{}

// valueHandler is a log handler. It collects a value from the context of each log record. The test has stored this
// value in the context of the request.
type valueHandler struct {
	slog.Handler
	values *[]any
}

func (h valueHandler) Handle(ctx context.Context, _ slog.Record) error {
	*h.values = append(*h.values, ctx.Value(key{}))
	return nil
}

// Call logs a failure with the context of the request. A log handler can then add values of the
// request, such as a trace id, to the log record.
func TestAFailureIsLoggedWithTheValuesOfTheRequest(t *testing.T) {
	const value = "of the request"
	for name, c := range map[string]struct {
		call func(context.Context) error
		want []any
	}{
		"an error": {fails, []any{value}},
		"a panic":  {panics, []any{value}},
		"a panic after the timeout": {
			func(ctx context.Context) error {
				<-ctx.Done()
				time.Sleep(time.Minute)
				return panics(ctx)
			},
			[]any{value, nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []any
				logger := slog.New(valueHandler{slog.NewTextHandler(io.Discard, nil), &got})
				hooks.Call(context.WithValue(t.Context(), key{}, value), logger, "forget", c.call)
				time.Sleep(time.Hour)
				synctest.Wait()
				if !slices.Equal(got, c.want) {
					t.Errorf("logged with %v, want %v", got, c.want)
				}
			})
		})
	}
}

func succeeds(context.Context) error { return nil }
func fails(context.Context) error    { return errors.New("zoe@example.org") }
func panics(context.Context) error   { panic("zoe@example.org") }
func exits(context.Context) error    { runtime.Goexit(); return nil }

func hangs(ctx context.Context) error {
	<-ctx.Done()
	time.Sleep(time.Hour) // continues after its context has ended
	return nil
}

func TestAFunctionIsCalledOnceAndItsFailureIsLogged(t *testing.T) {
	for name, c := range map[string]struct {
		do     func(context.Context) error
		took   time.Duration
		logged string
	}{
		"it succeeds":        {do: succeeds},
		"it fails":           {do: fails, logged: "a hook failed"},
		"it panics":          {do: panics, logged: "a hook panicked"},
		"its goroutine ends": {do: exits},
		"it hangs":           {do: hangs, took: 5 * time.Second, logged: "class=timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				began, calls := time.Now(), 0
				ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "of the request"))
				cancel() // the client is gone
				logger := slog.New(slog.NewTextHandler(&log, nil))
				hooks.Call(ctx, logger, "forget", func(ctx context.Context) error {
					calls++
					if ctx.Value(key{}) == nil || ctx.Err() != nil {
						t.Error("the context lacks the values of the request, or has ended")
					}
					return c.do(ctx)
				})
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				time.Sleep(24 * time.Hour)
				if got := log.String(); calls != 1 || strings.Count(got, "level=ERROR") != min(1, len(c.logged)) ||
					!strings.Contains(got, c.logged) || strings.Contains(got, "example.org") ||
					c.logged != "" && !strings.Contains(got, "hook=forget") {
					t.Errorf("%d calls, logged: %s", calls, got)
				}
			})
		})
	}
}
