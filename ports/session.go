package ports

import "context"

// Session is one open transaction and its stores. All writes through the stores commit together or roll back together.
// Services use an open Session and never commit it.
//
// A session belongs to the function that it was opened for. It must not be used concurrently. Any use of the session's
// stores after this function has returned fails with domain.ErrSession.
//
// A session may buffer new records (consents, restrictions, audit events, outbox entries) and send them in batches. It
// sends them at the latest when a call reads from a store with buffered records, or when the session commits. If an
// append fails, a later call or SessionFactory.Do may therefore return the error. A session opens no connection before
// its first statement.
//
// A store copies the values that a caller passes to it. The values that a store returns belong to the caller. A store
// returns every instant in UTC and in whole microseconds, as domain.Instant does. A call that waits for a lock or for a
// connection returns when its context ends.
type Session interface {
	Consents() ConsentStore
	Restrictions() RestrictionStore
	Subjects() SubjectStore
	Erased() ErasedStore
	Installation() InstallationStore
	Outbox() Outbox
	OutboxAdmin() OutboxAdmin // shares the entries with Outbox
	Audit() AuditLog
	Register() Register // the requests and the legal holds

	// AfterEnd registers fn to be called once after SessionFactory.Do has ended the session. The parameter err of fn is
	// nil if the session has committed. Otherwise, err is the error that Do returns, or an error if the function that was
	// passed to Do panicked. An error is no proof that the session has not committed, because Do may have lost its
	// connection during the commit.
	//
	// The store calls fn before Do returns or before the panic continues. It calls fn in the goroutine of Do, and with the
	// context that the caller passed to Do. The session has ended by then, and fn may open another session. If several
	// functions are registered, the store calls them in the order of their registration.
	//
	// If Do runs the session again, the store calls only the functions that were registered in the last attempt.
	// SessionFactory.Rehearse never calls fn.
	//
	// If the session is part of a transaction of the application, the store cannot see the commit. It then calls fn when
	// the application reports the commit to the store, with the context of this report, and never if the application rolls
	// back. If such a session fails, the store calls fn immediately.
	AfterEnd(fn func(ctx context.Context, err error))
}

// SessionFactory opens sessions. It is safe for concurrent use.
type SessionFactory interface {
	// Do calls fn with an open session. If fn returns nil, Do commits the session, and returns nil only after the commit.
	// If fn or the commit fails, Do rolls back all writes of fn, except evidence (audit events that a rollback does not
	// remove, see AuditLog.AppendEvidence). These rules hold for a failure:
	//
	//   - If fn returns an error, and no statement has failed before, Do returns this error or an error that wraps it (see
	//     errors.Is and errors.As).
	//   - If fn panics, Do rolls back and then panics with the same value.
	//   - If fn returns nil, but the context ends before the commit, errors.Is matches the error with context.Canceled or
	//     context.DeadlineExceeded.
	//   - If a statement fails, Do fails even if fn ignores the error of the statement.
	//
	// Do writes evidence even if ctx has ended. It stops this write, and returns, at the latest at the instant that
	// EvidenceDeadline returns for ctx. It stops earlier if the SessionFactory has a time limit that ends before this
	// instant.
	//
	// Do retries serialization failures and deadlocks a bounded number of times. fn may therefore run more than once, and
	// must not have effects outside of the session.
	//
	// If the session is part of a transaction of the application, the application commits the writes of fn. Do then does
	// not retry. It writes evidence into that transaction, and cannot write it after ctx has ended.
	//
	// fn must not call Do with the context that it received. Such an inner Do returns domain.ErrSession, because it would
	// need a second connection and would not be part of the transaction.
	Do(ctx context.Context, fn func(ctx context.Context, s Session) error) error

	// Rehearse calls fn with an open session, as Do does, and always rolls the session back. Before the rollback, it makes
	// the checks of a commit: it sends the records that the session has buffered, and makes the database check deferred
	// constraints and triggers. In fn, the function Rehearsing returns true for the context.
	//
	// The rollback leaves no effect: no row, no evidence, no event of AppendOnRollback, and no notification of a
	// worker. The functions that fn registers with AfterEnd are not called. Sequences of the database may skip numbers.
	//
	// Rehearse calls fn once and never retries. Its result depends on the failure:
	//
	//   - If fn returns an error, Rehearse returns it as Do does.
	//   - If a constraint or a trigger would refuse the commit, Rehearse returns this error. The error of a constraint has
	//     the code domain.ErrConflict. This error names the table or the constraint if the database reports the name.
	//   - If fn panics, Rehearse rolls back and then panics with the same value.
	//
	// Rehearse returns domain.ErrSession if it is called inside fn of Do or of Rehearse. Rehearse returns
	// domain.ErrSession in a transaction of the application, because it would check and roll back other work of this
	// transaction, too.
	Rehearse(ctx context.Context, fn func(ctx context.Context, s Session) error) error

	// Probe returns nil if the database can be reached and has the tables of this version of habeas. It only reads. Probe
	// returns domain.ErrUnavailable if the database cannot be reached. Probe returns domain.ErrConfiguration if migrations
	// are pending, if a table, a column, a function or a privilege is missing, or if the tables belong to another data
	// map. It returns domain.ErrReadOnlyDatabase if all is in order, but the database can only be read, as on a standby,
	// and otherwise domain.ErrNewerTables if a newer version of habeas has changed the tables, and this version still
	// works. If ctx ends first, errors.Is matches the error with context.Canceled or context.DeadlineExceeded. Probe
	// returns domain.ErrSession in a transaction of the application.
	Probe(ctx context.Context) error
}
