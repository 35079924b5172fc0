package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// CommitNotifier is a Session that calls functions after its commit. The sessions of the stores of this module
// implement CommitNotifier. The function AfterCommit returns an error if a session does not implement CommitNotifier.
type CommitNotifier interface {
	Session

	// AfterCommit registers fn to be called once after the session has committed. The store calls fn before
	// SessionFactory.Do returns, in the goroutine of Do, and with the context that the caller passed to Do. The session
	// has ended by then, and fn may open another session. If several functions are registered, the store calls them in the
	// order of their registration.
	//
	// The store does not call fn in these cases:
	//
	//   - The session rolls back.
	//   - Do discards the attempt in which fn was registered, and runs the session again.
	//   - Do cannot know whether the commit has reached the database.
	//
	// If the session is part of a transaction of the application, the store cannot see the commit. It then calls fn when
	// the application reports the commit to the store.
	AfterCommit(fn func(ctx context.Context))
}

// AfterCommit registers fn to be called after the commit of a session. See CommitNotifier. AfterCommit returns
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
// of this module implement EndNotifier. Services use it to notify their Observer of the outcome of a session.
type EndNotifier interface {
	Session

	// AfterEnd registers fn to be called once after SessionFactory.Do has ended the session. The parameter err of fn is:
	//
	//   - nil after a commit
	//   - the error that Do returns if Do fails
	//   - an error if the function that was passed to Do panicked
	//
	// The store calls fn before Do returns or before the panic continues. It calls fn in the goroutine of Do, and with the
	// context that the caller passed to Do. It calls fn before the functions of AfterCommit. If several functions are
	// registered with AfterEnd, the store calls them in the order of their registration.
	//
	// If Do runs the session again, the store calls only the functions that were registered in the last attempt.
	// Rehearser.Rehearse never calls fn.
	//
	// If the session is part of a transaction of the application, the store calls fn when the application reports the
	// commit to the store. If such a session fails, the store calls fn immediately.
	AfterEnd(fn func(ctx context.Context, err error))
}
