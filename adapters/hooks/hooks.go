// Package hooks calls functions of the application after a commit, and calls them again if they fail. An error or a
// panic of a hook cannot undo the commit, so Caller logs it. Package app/stack uses Caller for the hooks of erasures
// and rectifications.
//
//	caller := hooks.Caller{Attempts: 3}
//	caller.Call(ctx, "forget_sessions", cache.Forget)
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

const (
	// timeout is the time limit of each call. A function that runs longer counts as failed.
	timeout = 5 * time.Second
	// firstBackoff is the wait before the second call. The wait doubles before each further call, up to longestBackoff.
	firstBackoff   = time.Second
	longestBackoff = time.Minute
)

// Caller calls functions, and retries them if they fail. The zero value is ready for use. It is safe for concurrent
// use.
type Caller struct {
	// Attempts is the maximum number of calls of one function, the first call included. The default is 1.
	Attempts int
	// Logger gets a record for each call that failed. A record has no personal data: it does not have the value of a
	// panic, and it has only those parts of an error that package domain declares free of personal data. The default is
	// slog.Default().
	Logger *slog.Logger
}

// Call calls a function once and waits until it returns, at most 5 s. If that call fails, Call starts the
// further attempts in the background and returns. These attempts end if the process ends. The parameter name identifies
// the function in the log.
//
// The first call of the function gets the values of ctx. Further calls do not get these values, because they may run
// after the end of the request. The calls continue after ctx ends, because a client that disconnects must not prevent
// the hook of a committed change.
func (c Caller) Call(ctx context.Context, name string, call func(context.Context) error) {
	if c.attempt(ctx, name, 1, call) || c.Attempts <= 1 {
		return
	}
	go func() { //nolint:contextcheck,gosec // the request and its values may have ended
		wait := firstBackoff
		for attempt := 2; attempt <= c.Attempts; attempt++ {
			time.Sleep(wait)
			if c.attempt(context.Background(), name, attempt, call) {
				return
			}
			wait = min(2*wait, longestBackoff)
		}
	}()
}

// errPanicked is the result of a call that panicked. The goroutine of the call logs the panic.
var errPanicked = errors.New("habeas: a hook panicked")

// attempt makes one call and logs its failure. It returns true if the call succeeded.
func (c Caller) attempt(ctx context.Context, name string, attempt int, call func(context.Context) error) bool {
	ctx, release := detach.New(context.WithoutCancel(ctx))
	defer release()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	logger := cmp.Or(c.Logger, slog.Default())
	about := []slog.Attr{
		slog.String("hook", name), slog.Int("attempt", attempt), slog.Int("attempts", max(1, c.Attempts)),
	}
	done := make(chan error, 1)
	go func() {
		err := errPanicked // replaced if call returns
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
