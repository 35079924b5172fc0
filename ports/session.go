package ports

import "context"

// Session is one open transaction. Its stores are bound to it: all writes through them commit or roll back together.
// Services use an open Session and never commit it.
//
// A session belongs to the function that it was opened for. It must not be used concurrently. Any use after that
// function has returned fails with domain.ErrSession.
//
// A session may buffer appends (ledger records, audit events, outbox entries), so that it can send them in one batch.
// It sends them at the latest when a call reads from a buffered store, or when the session ends. A later call or
// SessionFactory.Do may therefore report the error of an append. A session opens no connection before its first
// statement.
//
// A store copies the values that a caller passes, and the values that it returns belong to the caller. Every instant is
// returned in UTC and in whole microseconds, as domain.Instant does. A call that waits for a lock or a connection ends
// with its context.
type Session interface {
	Consents() ConsentStore
	Restrictions() RestrictionStore
	Subjects() SubjectStore
	Outbox() Outbox
	Audit() AuditLog
}

// MarkReader is a Session that has ErasureMarks. See MarksOf.
type MarkReader interface {
	Session
	Marks() ErasureMarks
}

// SessionFactory opens sessions. It is safe for concurrent use.
type SessionFactory interface {
	// Do calls fn with an open session. If fn returns nil, Do commits. Do returns nil only after the commit is durable.
	// Otherwise Do rolls back all writes of fn except evidence (see AuditLog). These rules hold for a failure:
	//
	//   - Do returns an error of fn so that errors.Is and errors.As match it.
	//   - A panic of fn continues after the rollback.
	//   - If the context ends before the commit, errors.Is matches the error with context.Canceled or
	//     context.DeadlineExceeded.
	//   - If a statement failed, Do fails even if fn ignored the error of the statement.
	//
	// Do writes evidence even if ctx has ended. It stops at the time that EvidenceDeadline returns for ctx, or earlier at
	// a time limit that the SessionFactory sets. Do returns by that time.
	//
	// Do retries serialization failures and deadlocks a bounded number of times. fn may therefore run more than once, and
	// must not have effects outside of the session. If fn calls Do with the context that fn received, the inner Do returns
	// domain.ErrSession. The inner Do would need a second connection and would not be part of the transaction.
	Do(ctx context.Context, fn func(ctx context.Context, s Session) error) error
}

// Rehearser is a SessionFactory that can run a session and then roll it back without a trace. The stores of this module
// implement it. RehearserOf returns the Rehearser of a session factory.
type Rehearser interface {
	SessionFactory
	// Rehearse calls fn with an open session, as Do does, and always rolls the session back. Before the rollback it runs
	// the checks of a commit: it sends buffered appends, and checks deferred constraints and triggers. Rehearsing is true
	// for the context of fn.
	//
	// No effect survives the rollback: no row, no evidence, no event of AppendOnRollback, no notification of a worker, and
	// no call of a function of AfterCommit. Sequences of the database may skip numbers.
	//
	// Rehearse calls fn once and retries nothing. Returns the error of fn as Do does. Returns the error of a constraint or
	// a trigger that would refuse the commit. Otherwise it returns nil. A panic of fn continues after the rollback. The
	// error of a constraint has the code domain.ErrConflict, and names the table or the constraint if the database names
	// it.
	//
	// Returns domain.ErrSession inside fn of Do or of Rehearse. Returns domain.ErrSession in a transaction of the
	// application, because it would check and roll back other work of that transaction, too.
	Rehearse(ctx context.Context, fn func(ctx context.Context, s Session) error) error
}
