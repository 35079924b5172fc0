package stack

import (
	"context"
	"log/slog"
	"time"

	"github.com/habeas-data/habeas/adapters/hooks"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Hooks are what the application itself does with an erasure or a rectification. By default there are none.
type Hooks struct {
	// BeforeErasure is called in the transaction of each erasure, once the subject is locked and before its rows go. With
	// bunstore.Tx, it runs statements of its own in the transaction. Its error fails the erasure, which is then rolled
	// back; a panic is an error. It is called again if the transaction is tried again, and must have no effect outside.
	BeforeErasure func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// AfterErasure is called after the commit of each erasure, in the process that has committed, before the session
	// factory's Do returns: for caches, sessions and tokens. It is not called for an erasure that is rolled back. Its
	// error changes nothing of what is decided: it is logged, without its text, and Attempts says whether it is called
	// again. It has no part of a cancellation of the request.
	//
	// A process that ends between the commit and the call does not call it. Work that must not be lost belongs into
	// BeforeErasure, or into a resolver. After a commit of the application's own transaction, the application has it
	// called by bunstore.Joined.Committed; see app.Integration.Join.
	AfterErasure func(ctx context.Context, subject domain.Subject, result domain.ErasureResult) error

	// BeforeRectification is BeforeErasure for rectifications.
	BeforeRectification func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// AfterRectification is AfterErasure for rectifications.
	AfterRectification func(ctx context.Context, subject domain.Subject, result domain.RectificationResult) error

	// Attempts is how often an After hook is called at most, until it succeeds. The calls after the first one are made in
	// the background, for as long as the process lives; a shutdown does not wait for them. The default is 1.
	Attempts int
	// Timeout bounds each call of an After hook. A hook that goes on after it counts as failed. The default is 5 s.
	Timeout time.Duration
	// Backoff is the wait before the second call, doubled for each further one up to a minute. The default is 1 s.
	Backoff time.Duration
	// Logger gets what fails, without any personal data. The default is slog.Default().
	Logger *slog.Logger
}

// isDefault reports whether there is no hook, and nothing else is set.
func (h Hooks) isDefault() bool {
	return h.BeforeErasure == nil && h.AfterErasure == nil && h.BeforeRectification == nil &&
		h.AfterRectification == nil && h.Attempts == 0 && h.Timeout == 0 && h.Backoff == 0 && h.Logger == nil
}

func (h Hooks) validate() error {
	if h.Attempts < 0 || h.Timeout < 0 || h.Backoff < 0 {
		return domain.Misconfigured("stack", "Hooks: no number may be negative")
	}
	return nil
}

// afterErasure is the hook of an eraser; nil if there is none.
func (h Hooks) afterErasure() func(context.Context, domain.Subject, domain.ErasureResult) {
	if h.AfterErasure == nil {
		return nil
	}
	return func(ctx context.Context, subject domain.Subject, result domain.ErasureResult) {
		h.caller().Call(ctx, "after_erasure", func(ctx context.Context) error { return h.AfterErasure(ctx, subject, result) })
	}
}

// afterRectification is the hook of a rectifier; nil if there is none.
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
	return hooks.Caller{Attempts: h.Attempts, Timeout: h.Timeout, Backoff: h.Backoff, Logger: h.Logger}
}
