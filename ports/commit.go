package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// CommitNotifier is a Session that calls functions after its commit. Those of the stores of this module are;
// AfterCommit finds out.
type CommitNotifier interface {
	Session

	// AfterCommit has fn called once the session has committed: before SessionFactory.Do returns, in its goroutine, with
	// the context that Do was given. The session has ended, and fn may open another one. Functions are called in the order
	// in which they were given, each once.
	//
	// fn is not called if the session rolls back, for an attempt that Do retries, or if Do does not know whether the
	// commit has arrived. If the session is a part of a transaction of the application, the store cannot know of the
	// commit: fn is called when the application says so.
	AfterCommit(fn func(ctx context.Context))
}

// AfterCommit has fn called after the commit of a session; see CommitNotifier. Returns domain.ErrConfiguration if the
// session is none.
func AfterCommit(s Session, fn func(ctx context.Context)) error {
	notifier, ok := s.(CommitNotifier)
	if !ok {
		return domain.Misconfigured("session", "the store does not implement ports.CommitNotifier, which hooks need")
	}
	notifier.AfterCommit(fn)
	return nil
}

// EndNotifier is a Session that calls functions at its end, whichever end that is. Those of the stores of this module
// are. Observations of what a session has done are made there.
type EndNotifier interface {
	Session

	// AfterEnd has fn called once SessionFactory.Do has ended the session: with nil after its commit, or else with the
	// error that Do returns, or with an error if fn of Do panicked. The call comes before Do returns or the panic goes on,
	// in its goroutine, with the context that Do was given, and before the functions of AfterCommit. Functions are called
	// in the order in which they were given, each once.
	//
	// fn is not called for an attempt that Do retries, nor by Rehearser.Rehearse. If the session is a part of a
	// transaction of the application, a commit is known only when the application says so: fn is called then, or at once
	// if the session failed.
	AfterEnd(fn func(ctx context.Context, err error))
}
