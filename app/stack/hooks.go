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
	// panics, the erasure fails and rolls back. It is called again if the transaction is retried, so it must have no
	// effects outside of the transaction.
	BeforeErasure func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// AfterErasure is called after the commit of each erasure, for example to clear caches, sessions and tokens. It is
	// called in the process that commits, before Do of the session factory returns. It is not called for an erasure that
	// rolls back. Its context is not cancelled if the request is cancelled, but ends after 5 s. An error of AfterErasure
	// does not change the erasure. The error is logged without its text, and AfterErasure is not called again.
	//
	// If the process ends between the commit and the call, AfterErasure is not called. Put work that must not be lost into
	// BeforeErasure or into a resolver. If the erasure runs in a transaction of the application, the application must call
	// bunstore.Joined.Committed after its commit. Only then is AfterErasure called. See app.Integration.Join.
	AfterErasure func(ctx context.Context, subject domain.Subject, result domain.ErasureResult) error

	// BeforeRectification is called in the transaction of each rectification, after the subject is locked and before its
	// rows are changed. If it returns an error or panics, the rectification fails and rolls back. All other rules of
	// BeforeErasure also apply.
	BeforeRectification func(ctx context.Context, s ports.Session, subject domain.Subject) error
	// AfterRectification is called after the commit of each rectification, for example to clear caches. All rules of
	// AfterErasure also apply.
	AfterRectification func(ctx context.Context, subject domain.Subject, result domain.RectificationResult) error

	// Logger receives failures of hooks. No log record holds personal data. The default is slog.Default().
	Logger *slog.Logger
}

// afterErasure returns a function that calls AfterErasure, or nil if AfterErasure is nil.
func (h Hooks) afterErasure() func(context.Context, domain.Subject, domain.ErasureResult) {
	if h.AfterErasure == nil {
		return nil
	}
	return func(ctx context.Context, subject domain.Subject, result domain.ErasureResult) {
		hooks.Call(ctx, h.Logger, "after_erasure", func(ctx context.Context) error {
			return h.AfterErasure(ctx, subject, result)
		})
	}
}

// afterRectification returns a function that calls AfterRectification, or nil if AfterRectification is nil.
func (h Hooks) afterRectification() func(context.Context, domain.Subject, domain.RectificationResult) {
	if h.AfterRectification == nil {
		return nil
	}
	return func(ctx context.Context, subject domain.Subject, result domain.RectificationResult) {
		hooks.Call(ctx, h.Logger, "after_rectification", func(ctx context.Context) error {
			return h.AfterRectification(ctx, subject, result)
		})
	}
}
