package stack

import (
	"context"
	"log/slog"

	"github.com/habeas-data/habeas/adapters/hooks"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Hooks are functions of the application that run before or after an erasure or a rectification. By default, no hook is
// set.
type Hooks struct {
	// BeforeErasure is called in the transaction of each erasure, after the subject is locked and before its rows are
	// deleted or overwritten. With bunstore.Tx, it can run statements in that transaction. If it returns an error or
	// panics, the erasure fails and rolls back. With a *domain.RefusalError, it refuses the erasure, and the client gets
	// the words of this error instead of the status 500. It is called again if the transaction is retried, so it must have
	// no effects outside of the transaction.
	BeforeErasure func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// AfterErasure is called after the commit of each erasure, for example to clear caches, sessions and tokens. It is
	// called in the process that commits, before Do of the session factory returns. It is not called for an erasure that
	// rolls back. Its context is not cancelled if the request is cancelled. An error of AfterErasure does not change the
	// erasure. The error is logged (see Logger), and Attempts decides whether AfterErasure is called again.
	//
	// If the process ends between the commit and the call, or if the connection is lost during the commit, AfterErasure is
	// not called. Put work that must not be lost into BeforeErasure or into a resolver. If the erasure runs in a
	// transaction of the application, the application must call bunstore.Joined.Committed after its commit. Only then is
	// AfterErasure called. See app.Integration.Join.
	AfterErasure func(ctx context.Context, subject domain.Subject, result domain.ErasureResult) error

	// BeforeRectification is called in the transaction of each rectification, after the subject is locked and before its
	// rows are changed. If it returns an error or panics, the rectification fails and rolls back. All other rules of
	// BeforeErasure also apply.
	BeforeRectification func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// AfterRectification is called after the commit of each rectification, for example to clear caches. All rules of
	// AfterErasure also apply.
	AfterRectification func(ctx context.Context, subject domain.Subject, result domain.RectificationResult) error

	// Attempts is the maximum number of calls of AfterErasure or AfterRectification for one operation. No call follows a
	// successful call. The first call is synchronous. Further calls run in the background until the process ends, and a
	// shutdown does not wait for them. Each call has a time limit of 5 s. The wait before the second call is 1 s, and
	// doubles for each further call, up to a minute. The default is 1.
	Attempts int
	// Logger receives the failures of AfterErasure and AfterRectification. No log record holds personal data: the text of
	// an error is logged only if it is an error of package domain. The default is the Logger of app.Config if package app
	// creates the Stack, and otherwise slog.Default().
	Logger *slog.Logger
}

func (h Hooks) isZero() bool {
	return h.BeforeErasure == nil && h.AfterErasure == nil && h.BeforeRectification == nil &&
		h.AfterRectification == nil && h.Attempts == 0 && h.Logger == nil
}

func (h Hooks) validate() error {
	if h.Attempts < 0 {
		return domain.Misconfigured("stack", "Hooks.Attempts must not be negative")
	}
	return nil
}

// afterErasure returns a function that calls AfterErasure until a call succeeds, at most Attempts times. It returns nil
// if AfterErasure is nil.
func (h Hooks) afterErasure() func(context.Context, domain.Subject, domain.ErasureResult) {
	if h.AfterErasure == nil {
		return nil
	}
	return func(ctx context.Context, subject domain.Subject, result domain.ErasureResult) {
		h.caller().Call(ctx, "after_erasure", func(ctx context.Context) error { return h.AfterErasure(ctx, subject, result) })
	}
}

// afterRectification returns a function that calls AfterRectification until a call succeeds, at most Attempts times. It
// returns nil if AfterRectification is nil.
func (h Hooks) afterRectification() func(context.Context, domain.Subject, domain.RectificationResult) {
	if h.AfterRectification == nil {
		return nil
	}
	return func(ctx context.Context, subject domain.Subject, result domain.RectificationResult) {
		h.caller().Call(ctx, "after_rectification", func(ctx context.Context) error {
			return h.AfterRectification(ctx, subject, result)
		})
	}
}

func (h Hooks) caller() hooks.Caller {
	return hooks.Caller{Attempts: h.Attempts, Logger: h.Logger}
}
