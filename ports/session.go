package ports

import "context"

// Session is one open transaction. The stores it hands out are bound to it: what is written through any of them
// commits or rolls back together. Services take an open Session and never commit.
//
// A session belongs to the function it was opened for. It must not be used concurrently, nor after that function
// returned, which is domain.ErrSession.
//
// A session may hold back what is appended (ledger records, audit events, outbox entries) until something that it
// holds back has to be read, or until it ends, so that appends travel together. An append that fails may therefore
// be reported by a later call or by SessionFactory.Do. A session opens no connection before its first statement.
//
// Values that the caller passes to a store stay the caller's, and values that a store returns are the caller's: a store
// keeps copies. Every instant comes back in UTC and whole microseconds, as by domain.Instant. A call that waits, for a
// lock or a connection, ends with its context.
type Session interface {
	Consents() ConsentStore
	Restrictions() RestrictionStore
	Subjects() SubjectStore
	Outbox() Outbox
	Audit() AuditLog
}

// MarkReader is a Session that has ErasureMarks; see MarksOf.
type MarkReader interface {
	Session
	Marks() ErasureMarks
}

// SessionFactory opens sessions. It is safe for concurrent use.
type SessionFactory interface {
	// Do calls fn with an open session. It commits when fn returns nil, and returns nil only once the commit is
	// durable. Otherwise everything that fn wrote is rolled back, but for evidence (see AuditLog):
	//
	//   - an error of fn comes back so that errors.Is and errors.As see it;
	//   - a panic of fn goes on after the rollback;
	//   - a context that ends before the commit gives an error that is context.Canceled or context.DeadlineExceeded;
	//   - a statement that failed fails Do, even where fn swallowed its error.
	//
	// Evidence is written also if ctx has ended, until the time that EvidenceDeadline returns for ctx, or else within
	// a limit of the implementation's own. Do returns by that time.
	//
	// Do itself retries serialization failures and deadlocks, a bounded number of times, so fn may run more than once
	// and must have no effect outside the session. A Do inside fn, with the context that fn was given, is
	// domain.ErrSession: it would need a second connection and would not be part of the transaction.
	Do(ctx context.Context, fn func(ctx context.Context, s Session) error) error
}

// Rehearser is a SessionFactory that can run a session and leave no trace. The stores of this module implement it;
// RehearserOf finds it.
type Rehearser interface {
	SessionFactory
	// Rehearse calls fn with an open session, as Do does, and always rolls it back. It first checks what the commit would
	// check: appends that are held back, and deferred constraints and triggers. Rehearsing is true for the context of fn.
	//
	// Nothing outlives it: no row, no evidence, no event of AppendOnRollback, no wake-up of a worker, no function of
	// AfterCommit. Sequences of the database may skip numbers.
	//
	// It calls fn once and retries nothing. Returns the error of fn as Do does, the error of a constraint or a trigger
	// that would refuse the commit, or nil. A panic of fn goes on after the rollback. The error of a constraint is
	// domain.ErrConflict, and names the table or the constraint if the database does. Returns domain.ErrSession inside fn
	// of Do or of Rehearse, and in a transaction of the application: other work would be checked and rolled back with it.
	Rehearse(ctx context.Context, fn func(ctx context.Context, s Session) error) error
}
