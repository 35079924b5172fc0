package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Outbox keeps the calls to external systems that erasures, rectifications and sweeps have requested. See
// domain.OutboxStatus for the states of an entry. OutboxAdmin has the methods for operators.
//
// For every method, a limit of 0 or less selects no entry. A method accepts any number of entries and ids.
type Outbox interface {
	// Enqueue adds new outbox entries. Other sessions see the entries after the session has committed. The status of a new
	// entry is pending. A new entry has no attempts, no error, no lease and no instant except EnqueuedAt and RequestedAt.
	// A store may ignore other values of these fields. A zero RequestedAt becomes EnqueuedAt. Enqueue returns
	// domain.ErrConflict if an entry with the same EntryID exists already.
	//
	// Other methods, such as Claim, return the corrections of an entry as domain.Corrections decodes them from JSON. A
	// time becomes its text, and bytes become base64. A number at any depth becomes a json.Number with the same value. No
	// digits are lost.
	Enqueue(ctx context.Context, entries ...domain.OutboxEntry) error

	// Claim takes due outbox entries for the caller and returns them, oldest first by (EnqueuedAt, EntryID). An entry is
	// due if its status is pending, failed or in flight, and its NextAttemptAt is nil or not after query.Now.
	//
	// For each element of query.Takes, Claim takes at most Take.Fresh new entries, the first by (TurnAt, EntryID), and at
	// most Take.Retries retries, those that have been due the longest by (NextAttemptAt, TurnAt, EntryID). It takes no
	// other entry. A number of 0 or less takes no entry.
	//
	// Claim changes each entry. It sets Status to in_flight, adds 1 to Attempts, and sets LastAttemptAt to query.Now. It
	// sets NextAttemptAt to query.LeaseUntil, and LeaseToken to query.LeaseToken. A claimed entry belongs to the caller
	// from the commit of the session until query.LeaseUntil, or until the entry is settled or withdrawn. At
	// query.LeaseUntil, the entry is due again, so that a crash of the caller does not block the entry. Concurrent claims
	// take different entries. They do not wait for each other if the store supports that.
	//
	// In a database, the cost of Claim does not grow with the number of entries that it cannot take. These entries are
	// settled, leased, not due yet, or belong to other takes. To keep the cost low, a store may leave out a due entry for
	// a while. A later claim then takes the entry.
	//
	// A process whose clock was ahead may have set an instant in the far future. Such an instant must not delay an entry.
	// An open entry (pending, failed or in flight) is therefore also due, as the last retry of its take, if its
	// NextAttemptAt is after the instant that ClaimQuery.LatestNextAttempt returns, or if its LastAttemptAt is after
	// query.LeaseUntil. The clocks of all processes that share an outbox must differ by less than the length of a lease.
	//
	// An entry is unreadable if the store cannot decode one of its fields, such as the subject, the ref or the
	// corrections. Claim abandons an unreadable entry, sets its error to domain.LastErrorUnreadable, and gives it no
	// lease. Claim returns the entry with the status abandoned and with the fields that could be decoded. The SubjectID of
	// the entry is zero if the subject could not be decoded. The caller must not settle the entry. An unreadable entry
	// never causes an error of a method. The other methods, too, return the fields that could be decoded.
	Claim(ctx context.Context, query domain.ClaimQuery) ([]domain.OutboxEntry, error)

	// Unclaimed finds up to limit outbox entries that were due before the parameter dueBefore and that no process has
	// claimed since. It returns the entries, oldest first by (EnqueuedAt, EntryID). It sets LastError of each entry to
	// domain.LastErrorUnclaimed and changes nothing else. The entry therefore stays due for Claim. Unclaimed selects
	// entries whose status is pending, failed or in flight, whose EnqueuedAt is before dueBefore, and whose NextAttemptAt
	// is nil or before dueBefore. It skips an entry whose LastError is domain.LastErrorUnclaimed already, so that only one
	// of several processes gets the entry.
	Unclaimed(ctx context.Context, dueBefore time.Time, limit int) ([]domain.OutboxEntry, error)

	// Settle writes the outcomes of claimed outbox entries. It returns a result for each settlement, in the same order. A
	// settlement is stale if the entry no longer has the lease token of the settlement. A stale settlement changes
	// nothing. Any other settlement sets the status of the entry and clears the lease token. It also clears the ref and
	// the corrections in the cases that domain.Settlement describes. Settle returns no error if there are no settlements.
	//
	// An operation is the set of entries with the same subject, Operation and OperationID. SettleResult.Completes reports
	// that the settlement has completed its operation: every entry of the operation has now succeeded or was spared.
	// Abandoned rectifications are ignored, because they are never requeued: the application issues a new rectification
	// instead. If one call settles the last entries of an operation, Completes is set on the last of these settlements
	// that ends an entry. If several sessions concurrently settle the last entries of one operation as succeeded,
	// Completes is set in exactly one of them, because Settle takes a lock before it decides about Completes.
	Settle(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error)

	// Withdraw abandons the subject's rectifications (outbox entries) that are pending, failed or in flight. It clears
	// their corrections and refs, and returns these entries, oldest first. An erasure calls Withdraw for two reasons: a
	// rectification must not be carried out after the erasure, and the corrections are personal data that must not remain.
	// An entry in flight loses its lease. A later settlement of this entry is therefore stale.
	Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error)

	// FirstClaims returns, for each of the given outbox entries, the instant of its first claim. A requeue begins anew:
	// the first claim is then the first one after it. A claim that a settlement with the status pending has released does
	// not count. The map leaves out entries without such a claim.
	FirstClaims(ctx context.Context, entryIDs []string) (map[string]time.Time, error)
}

// OutboxAdmin shows and changes the entries of the Outbox, for operators.
//
// For every method, a limit of 0 or less selects no entry. A method accepts any number of ids. The methods Counts,
// Backlog and Abandoned only read. A session may therefore call SubjectStore.Export after them.
type OutboxAdmin interface {
	// Counts returns the number of outbox entries in each status. The map contains every status, with 0 if no entry has
	// the status.
	Counts(ctx context.Context) (map[domain.OutboxStatus]int64, error)

	// Backlog returns the number and the age of the outbox entries that have not succeeded, for each resolver that has
	// such entries. The result is in the order of the names of the resolvers.
	Backlog(ctx context.Context) ([]domain.OutboxBacklog, error)

	// Abandoned returns up to limit outbox entries about which an operator has to decide, oldest first by (EnqueuedAt,
	// EntryID). These are the abandoned entries, and the spared entries that were not discarded yet. If the parameter
	// after is nil, the result starts with the oldest entry. To get the next page, pass the last returned entry as this
	// parameter. The result then starts with the first later entry in this order.
	Abandoned(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error)

	// Requeue makes abandoned erasures (outbox entries) pending again, as if they had never been tried. It returns the
	// requeued entries, oldest first. It ignores the ids of entries that are not abandoned, and of entries that are not
	// erasures.
	Requeue(ctx context.Context, entryIDs []string) ([]domain.OutboxEntry, error)

	// RequeueMatching works like Requeue, but selects the abandoned entries by a filter. It requeues at most limit
	// entries, oldest first, and returns them. To requeue all matching entries, call RequeueMatching again until it
	// returns no entry. An empty filter matches all abandoned erasures.
	RequeueMatching(ctx context.Context, filter domain.OutboxFilter, limit int) ([]domain.OutboxEntry, error)

	// Discard marks abandoned outbox entries as succeeded, because a person has handled them by other means. It also marks
	// spared entries as succeeded, because a person has acknowledged them. It clears the corrections, errors and refs of
	// the entries. It returns the discarded entries, oldest first by (EnqueuedAt, EntryID). It ignores the ids of all
	// other entries.
	//
	// Discarded.Completes is set on the last returned entry of an erasure that was abandoned, if all entries of this
	// erasure are done after the call. Discard takes the lock of Outbox.Settle before it decides this. Completes is never
	// set for a rectification. Outbox.Settle does not wait for abandoned entries before it reports a rectification as
	// complete, so Discard cannot complete one.
	Discard(ctx context.Context, entryIDs []string) ([]domain.Discarded, error)

	// Purge removes up to limit outbox entries that have succeeded and whose EnqueuedAt is before enqueuedBefore. It
	// returns the number of removed entries.
	Purge(ctx context.Context, enqueuedBefore time.Time, limit int) (int64, error)
}
