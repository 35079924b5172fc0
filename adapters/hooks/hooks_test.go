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

// called has the calls of a hook and the log of these calls.
type called struct {
	at  []time.Duration // since the first call
	log string
}

// callHook lets a Caller call a hook until a call succeeds or all attempts have failed. Each call of the hook runs the
// next of the given functions. After the last function, each call runs the last function again.
func callHook(t *testing.T, caller hooks.Caller, do ...func(context.Context) error) (result called) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		caller.Logger = slog.New(slog.NewTextHandler(&log, nil))
		began := time.Now()
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "of the request"))
		cancel() // the client is gone
		caller.Call(ctx, "forget", func(ctx context.Context) error {
			n := len(result.at)
			result.at = append(result.at, time.Since(began))
			if value := ctx.Value(key{}); (value != nil) != (n == 0) {
				t.Errorf("call %d has the value %v of the request", n, value)
			}
			if ctx.Err() != nil {
				t.Errorf("call %d has a context that has ended", n)
			}
			return do[min(n, len(do)-1)](ctx)
		})
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		result.log = log.String()
	})
	return result
}

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

// Caller logs a failure of the first call with the context of the request. A log handler can then add values of the
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
				caller := hooks.Caller{Logger: slog.New(valueHandler{slog.NewTextHandler(io.Discard, nil), &got})}
				caller.Call(context.WithValue(t.Context(), key{}, value), "forget", c.call)
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

func TestAFunctionIsCalledUntilItSucceeds(t *testing.T) {
	for name, c := range map[string]struct {
		caller hooks.Caller
		do     []func(context.Context) error
		want   []time.Duration
		logged int
	}{
		"once, if it succeeds": {
			hooks.Caller{Attempts: 5},
			[]func(context.Context) error{succeeds},
			[]time.Duration{0},
			0,
		},
		"once by default": {
			hooks.Caller{},
			[]func(context.Context) error{fails},
			[]time.Duration{0},
			1,
		},
		"again, later and later": {
			hooks.Caller{Attempts: 4},
			[]func(context.Context) error{fails},
			[]time.Duration{0, 1e9, 3e9, 7e9},
			4,
		},
		"until it succeeds": {
			hooks.Caller{Attempts: 9},
			[]func(context.Context) error{fails, panics, succeeds},
			[]time.Duration{0, 1e9, 3e9},
			2,
		},
		"though its goroutine ends": {
			hooks.Caller{Attempts: 2},
			[]func(context.Context) error{exits, succeeds},
			[]time.Duration{0, 1e9},
			0,
		},
		"though it hangs": {
			hooks.Caller{Attempts: 2},
			[]func(context.Context) error{hangs, succeeds},
			[]time.Duration{0, 6e9},
			1,
		},
		"with a minute at the most": {
			hooks.Caller{Attempts: 9},
			[]func(context.Context) error{fails},
			[]time.Duration{0, 1e9, 3e9, 7e9, 15e9, 31e9, 63e9, 123e9, 183e9},
			9,
		},
		"with a panic, which is logged": {
			hooks.Caller{},
			[]func(context.Context) error{panics},
			[]time.Duration{0},
			1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := callHook(t, c.caller, c.do...)
			if len(got.at) != len(c.want) {
				t.Fatalf("called at %v, want %v", got.at, c.want)
			}
			for i, at := range got.at {
				if at != c.want[i] {
					t.Errorf("called at %v, want %v", got.at, c.want)
				}
			}
			if n := strings.Count(got.log, "level=ERROR"); n != c.logged || strings.Contains(got.log, "example.org") {
				t.Errorf("%d errors are logged, want %d: %s", n, c.logged, got.log)
			}
			if c.logged > 0 && !strings.Contains(got.log, "hook=forget attempt=1") {
				t.Errorf("the log does not name the hook: %s", got.log)
			}
		})
	}
}
