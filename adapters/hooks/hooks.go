// Package hooks calls functions of the application after a commit. An error or a panic of a hook cannot undo the
// commit, so Call logs it. Package app/stack uses Call for the hooks of erasures and rectifications.
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

// timeout is the time limit of a call. A function that runs longer counts as failed.
const timeout = 5 * time.Second

// errPanicked is the result of a call that panicked. The goroutine of the call logs the panic.
var errPanicked = errors.New("habeas: a hook panicked")

// Call calls a function once and waits until it returns, at most 5 s. The parameter name identifies the function in the
// log. The call continues after ctx ends, because a client that disconnects must not prevent the hook of a committed
// change.
//
// The logger gets a record if the call fails. The record has no personal data: it does not have the value of a panic,
// and it has only those parts of an error that package domain declares free of personal data. If logger is nil, Call
// uses slog.Default().
func Call(ctx context.Context, logger *slog.Logger, name string, call func(context.Context) error) {
	ctx, release := detach.New(context.WithoutCancel(ctx))
	defer release()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	logger = cmp.Or(logger, slog.Default())
	about := slog.String("hook", name)
	done := make(chan error, 1)
	go func() {
		err := errPanicked // replaced if call returns
		defer func() {
			if value := recover(); value != nil {
				logger.LogAttrs(ctx, slog.LevelError, "habeas: a hook panicked", append(safelog.Panic(value), about)...)
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
		logger.LogAttrs(ctx, slog.LevelError, "habeas: a hook failed", append(safelog.Error(err), about)...)
	}
}
