// Package hooks calls functions of the application after a commit. Their errors and panics cannot undo the commit, and
// must not be lost. Package app/stack uses it for the hooks of erasures and rectifications.
package hooks

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/habeas-data/habeas/adapters/internal/safelog"
	"github.com/habeas-data/habeas/internal/detach"
)

// The defaults of a Caller.
const (
	DefaultTimeout = 5 * time.Second
	DefaultBackoff = time.Second
)

// longestBackoff bounds the wait before a function is called again.
const longestBackoff = time.Minute

// Caller calls functions, again if they fail. The zero value is ready for use. It is safe for concurrent use.
type Caller struct {
	// Attempts is how often a function is called at most, until it succeeds. The default is 1.
	Attempts int
	// Timeout bounds each call. A function that goes on after it counts as failed. The default is 5 s.
	Timeout time.Duration
	// Backoff is the wait before the second call, doubled for each further one up to a minute. The default is 1 s.
	Backoff time.Duration
	// Logger gets what fails, without the texts of errors and the values of panics. The default is slog.Default().
	Logger *slog.Logger
}

// Call calls a function once and waits for it, at most for the timeout. The calls after the first one are made in the
// background, for as long as the process lives. The name stands in the log.
//
// The function gets the values of ctx at the first call only, and never its end: Call may be for a request that its
// client has left.
func (c Caller) Call(ctx context.Context, name string, call func(context.Context) error) {
	if c.attempt(ctx, name, 1, call) || c.Attempts <= 1 {
		return
	}
	go func() { //nolint:contextcheck,gosec // the request may have ended, and its values with it
		wait := cmp.Or(c.Backoff, DefaultBackoff)
		for attempt := 2; attempt <= c.Attempts; attempt++ {
			time.Sleep(wait)
			if c.attempt(context.Background(), name, attempt, call) {
				return
			}
			wait = min(2*wait, longestBackoff)
		}
	}()
}

// errPanicked stands for a panic, which is logged where it happens.
var errPanicked = errors.New("habeas: a hook panicked")

// attempt makes one call, and reports whether it succeeded.
func (c Caller) attempt(ctx context.Context, name string, attempt int, call func(context.Context) error) bool {
	ctx, release := detach.New(context.WithoutCancel(ctx))
	defer release()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, DefaultTimeout))
	defer cancel()
	logger := cmp.Or(c.Logger, slog.Default())
	about := []slog.Attr{
		slog.String("hook", name), slog.Int("attempt", attempt), slog.Int("attempts", max(1, c.Attempts)),
	}
	done := make(chan error, 1)
	go func() {
		err := errPanicked // unless call returns
		defer func() {
			if value := recover(); value != nil {
				attributes := append(safelog.Panic(value), about...)
				logger.LogAttrs(ctx, slog.LevelError, "habeas: a hook panicked", attributes...)
			}
			done <- err
		}()
		err = call(ctx)
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil && !errors.Is(err, errPanicked) {
		logger.LogAttrs(ctx, slog.LevelError, "habeas: a hook failed", append(safelog.Error(err), about...)...)
	}
	return err == nil
}
