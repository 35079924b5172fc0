package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// CommitNotifier is a Session that calls functions after its commit. The sessions of the stores of this module
// implement it. The function AfterCommit checks whether a session does.
type CommitNotifier interface {
	Session

	// AfterCommit registers fn to be called once after the session has committed. The store calls fn before
	// SessionFactory.Do returns, in the goroutine of Do, and with the context that Do was given. The session has ended by
	// then, and fn may open another one. The store calls several functions in the order of their registration.
	//
	// The store does not call fn if the session rolls back. It does not call fn for an attempt that Do retries, or if Do
	// does not know whether the commit has reached the database. If the session is part of a transaction of the
	// application, the store cannot see the commit. The store then calls fn when the application reports the commit.
	AfterCommit(fn func(ctx context.Context))
}

// AfterCommit registers fn to be called after the commit of a session. See CommitNotifier. Returns
// domain.ErrConfiguration if the session does not implement CommitNotifier.
func AfterCommit(s Session, fn func(ctx context.Context)) error {
	notifier, ok := s.(CommitNotifier)
	if !ok {
		return domain.Misconfigured("session", "the store does not implement ports.CommitNotifier, which hooks need")
	}
	notifier.AfterCommit(fn)
	return nil
}

// EndNotifier is a Session that calls functions when it ends, by a commit or by a failure. The sessions of the stores
// of this module implement it. Services report their observations of a session at its end.
type EndNotifier interface {
	Session

	// AfterEnd registers fn to be called once after SessionFactory.Do has ended the session. The error of the call is:
	//
	//   - nil after a commit
	//   - the error that Do returns if Do fails
	//   - some error if the function that was passed to Do panicked
	//
	// The store calls fn before Do returns or the panic continues, in the goroutine of Do, and with the context that Do
	// was given. It calls fn before the functions of AfterCommit. It calls several functions in the order of their
	// registration.
	//
	// The store does not call fn for an attempt that Do retries. Rehearser.Rehearse does not call it either. If the
	// session is part of a transaction of the application, the store calls fn when the application reports the commit, or
	// immediately if the session failed.
	AfterEnd(fn func(ctx context.Context, err error))
}
