package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// ConsentStore keeps the consent ledger. The ledger is append-only: the port has no operation that changes or removes a
// record. A store rejects such changes if it can.
//
// The order of intake decides which record is in force. It is the order in which the store accepted the records, by a
// sequence of its own and never by a clock. If one session was committed before another session began, its records come
// before the records of the other session. The records of one session are in the order in which they were appended. If
// several sessions append records of one subject concurrently, the records are in the order in which the sessions
// commit.
type ConsentStore interface {
	// Append adds a record. It stores the instant in whole microseconds.
	Append(ctx context.Context, record domain.ConsentRecord) error

	// Latest returns the record in force, which is the last one in the order of intake among the subject's records for the
	// purpose. With asOf, it considers only the records whose instant is asOf or earlier. It returns nil if there is no
	// such record.
	Latest(ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time) (*domain.ConsentRecord, error)

	// InForce returns the record in force for each purpose for which the subject has a record, in the order of intake. The
	// records include grants and withdrawals. It uses one statement for any number of purposes.
	InForce(ctx context.Context, id domain.SubjectID) ([]domain.ConsentRecord, error)

	// History returns the subject's records for the purpose in the order of intake, independent of their instants.
	History(ctx context.Context, id domain.SubjectID, purpose string) ([]domain.ConsentRecord, error)
}

// RestrictionStore keeps the restriction ledger. The ledger is append-only, in the same order of intake as in
// ConsentStore. Only the reasons, which are free text, can be cleared.
type RestrictionStore interface {
	// Append adds a record. It stores the instant in whole microseconds.
	Append(ctx context.Context, record domain.RestrictionRecord) error

	// Latest returns the records in force. global is the last one in the order of intake among the subject's global
	// records. If purpose is not nil, scoped is the last one among the subject's records for the purpose. Each of them is
	// nil if there is no such record.
	Latest(ctx context.Context, id domain.SubjectID, purpose *string) (global, scoped *domain.RestrictionRecord, err error)

	// History returns the subject's records in the order of intake, independent of their instants. If purpose is nil, it
	// returns the global records, otherwise the records for the purpose.
	History(ctx context.Context, id domain.SubjectID, purpose *string) ([]domain.RestrictionRecord, error)

	// ClearReasons sets the reason to nil in all records of the subject, and changes nothing else. This includes the
	// records that this session has appended before. A session may buffer the call like an append. A record that is
	// appended later keeps its reason.
	ClearReasons(ctx context.Context, id domain.SubjectID) error
}

// SubjectStore reads, erases and corrects a subject's rows in the tables of the application. The data map that the
// store was built with describes these tables. The store checks the subject's id with domain.DataMap.Key before any
// statement. Rows that the application has marked as deleted (soft deletion) are treated like any other row.
//
// The number of statements never depends on the number of rows.
type SubjectStore interface {
	// Lock makes this erasure the only operation on the subject. Another session that calls Lock or LockToRectify for the
	// same subject waits until this session ends. Lock leaves a mark of the erasure. The mark has the instant of the
	// parameter at. By the mark, a subject that was created again can be distinguished from a subject that was never
	// erased.
	//
	// Lock also locks the subject's own row. Starting from the subject, it locks the rows through which other tables reach
	// the subject. It waits for transactions that insert rows which refer to a locked row by a foreign key, so that Apply
	// sees these rows. It waits for transactions that assign a locked row to another subject, so that Apply leaves the
	// rows below it alone. Apply sees a row that refers to the subject without a foreign key if the row was committed
	// before Apply.
	//
	// Returns ErrSubject if the subject's table spells the id differently, because the ledgers would then treat one row as
	// two subjects. Returns ErrConfiguration if rows cannot be locked, because a privilege is missing or because of the
	// kind of a table.
	Lock(ctx context.Context, id domain.SubjectID, at time.Time) error

	// LockToRectify takes the lock of Lock, but leaves no mark and locks no rows. It returns the state of the subject in
	// the store. Errors are as for Lock.
	LockToRectify(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error)

	// Keys returns keys of an external system from the subject's rows. It reads the columns that domain.Table.KeysOf
	// returns for the system. Each key is returned once in its text form, in the order of its bytes. Keys returns no NULL,
	// no empty key, and no key from the rows of other subjects. It returns at most as many keys as the limit of the query.
	// To read all keys, call Keys again with the last key as After. It uses one statement for any number of rows and
	// tables.
	//
	// If ErasedAt is set, the session must have locked the subject, and must not have called Apply yet. The call without
	// After also locks the rows. The cells that Apply erases then hold exactly the keys that the calls return, because no
	// other transaction can change a cell in between.
	Keys(ctx context.Context, id domain.SubjectID, query domain.KeyQuery) ([]string, error)

	// Apply carries out local steps of a plan and returns the number of affected rows for each step. It executes the steps
	// in their order, or in one statement with the same result. The number is the number of the subject's rows that the
	// step deleted, anonymized, or, for a retain step, left unchanged. A step affects only the rows that its path
	// (domain.Step.Via) connects to the subject. In these rows, it affects only the columns that the step lists. Apply
	// never changes a row of another subject. If steps of several paths affect one row, the row is deleted if one of the
	// steps deletes it. Otherwise the effects of all steps apply. Columns of domain.Step.Clears are set to NULL.
	//
	// Anonymizing overwrites every cell of a column, including cells that hold NULL:
	//
	//   - A column with domain.StrategyNull gets NULL.
	//   - A column with a constant in the data map (domain.Column.Constant) gets the constant. Each placeholder of the
	//     constant is replaced by domain.Column.Digits hexadecimal digits, which differ in every cell.
	//   - Another text column gets "anon-" and 32 hexadecimal digits, which differ in every cell. A shorter column gets
	//     fewer digits. A column of fewer than 17 characters gets only digits.
	//   - Another UUID column gets a random UUID, which differs in every cell.
	//   - Any other column gets the empty value of its type: 0, false, 1970-01-01 in UTC, {} for JSON, an empty array, no
	//     bytes.
	//
	// Apply overwrites a cell of a column in domain.Step.Expired only if its retention duty is over. domain.Period.Cutoff
	// determines whether the duty is over.
	//
	// Returns ErrManifest in these cases, after which the session cannot be committed:
	//
	//   - domain.DataMap.CheckSteps refuses the steps.
	//   - A step would delete rows of a table that has columns outside of the data map, unless the table is owned.
	//   - A step would set a column to NULL that is known to be NOT NULL in the database.
	//
	// Returns ErrConfiguration if the database may hide rows of the subject from the store (row-level security, a
	// filtering view), unless the store is configured to trust that it does not. Returns ErrLeftOver if the database kept
	// data that a statement should have deleted or overwritten. Returns ErrConflict if rows cannot be deleted because
	// other rows refer to them.
	//
	// On error, len(rows) is the index of the step that failed, or len(steps) if the store does not know which step
	// failed. The caller must roll back.
	Apply(ctx context.Context, id domain.SubjectID, steps []domain.Step) (rows []int64, err error)

	// Rectify writes the values of a step into all rows of the step's table that the path of the step connects to the
	// subject. It uses one statement for all rows, and returns the number of rows. If there is no row, it returns 0 and no
	// error. If the step has a Row, Rectify writes only the row whose primary key Export returns as ExportRecord.Row, if
	// this row belongs to the subject. The written value reads back as the same value, for the application and for Export.
	// Rectify never changes a row of another subject, and leaves no mark of an erasure. Two sessions that rectify the same
	// row run one after the other, and the values of the later session stay.
	//
	// The values fit their columns by the rules of rectification.Planner.Plan. A store may know more about a column, such
	// as the shape of JSON that its readers expect, or that its numbers are not negative. Such a store refuses a value
	// that could not be read back, before it writes the value. The error is domain.ErrInvalid with a FieldError whose
	// field is the category of the column.
	//
	// Returns ErrManifest for a step without values, and for a step about a table or a column that is not annotated in the
	// data map. Returns ErrLeftOver if the database does not hold the values of the step afterwards. A value that the
	// database stores in its own form, such as lower case, counts as held.
	Rectify(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (rows int64, err error)

	// Export calls yield once for every field of every row of the subject. The fields of a row are the columns that
	// domain.DataMap.ExportedColumns returns. For rows about several people, Export includes only the columns that belong
	// to a path to the subject. The order is by table as in domain.DataMap.Tables, then by primary key, then by the
	// columns of the table. If the subject was erased before, Export passes the records of each row to
	// domain.DataMap.MarkErased, with the paths that connect the row to the subject.
	//
	// Export then does the same for the subject's lines in the ledgers, by intake, as domain.LedgerTables describes them.
	// domain.LedgerSeq is any number that grows with the intake.
	//
	// Export reads everything from one snapshot, and passes each record on as it reads it. A record that yield does not
	// keep uses no memory. If yield returns an error, Export stops and returns this error. yield must not use the session.
	// Returns domain.ErrSession after a write of the session. Buffered appends do not count as writes, and the export may
	// leave them out.
	Export(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error
}

// Outbox keeps the calls to external systems that are still due. See domain.OutboxStatus for the states of an entry. A
// limit of 0 or less selects no entry. A method accepts any number of entries and ids. Counts and Abandoned only read,
// so a session may call SubjectStore.Export after them.
type Outbox interface {
	// Enqueue adds entries. Other sessions see them after the session has committed. An entry must be new: its status is
	// pending, it has no attempts, no error and no lease, and EnqueuedAt is its only instant. A store may ignore other
	// values of these fields. Returns domain.ErrConflict if an EntryID exists already.
	//
	// Methods such as Claim return corrections in the form in which domain.Corrections decodes them from JSON. A time is
	// returned as its text, and bytes are returned in base64. A number at any depth is returned as a json.Number that has
	// the same value, without a loss of digits.
	Enqueue(ctx context.Context, entries ...domain.OutboxEntry) error

	// Claim locks and returns up to limit entries that are due, oldest first by (EnqueuedAt, EntryID). An entry is due if
	// its status is pending, failed or in flight, and its NextAttemptAt is nil or not after the parameter at. Claim sets
	// the status of each entry to in_flight, adds 1 to Attempts, and sets LastAttemptAt to the parameter at. It sets
	// NextAttemptAt to leaseUntil, and the lease token. Concurrent claims return different entries, and do not wait for
	// each other if the store supports that. A claimed entry belongs to the caller from the commit of the session until
	// leaseUntil. After leaseUntil the entry is due again, so that a crash of the caller does not block the entry.
	//
	// If targets are given in known, Claim takes only entries of their resolvers and operations, and leaves other entries
	// unchanged. Without targets, it takes entries of every resolver, in any order of the resolvers. It takes at most
	// domain.OutboxTarget.Limit entries of a resolver.
	//
	// If more entries are due than the limit, Claim divides the limit. Each resolver gets an equal share. Within a
	// resolver, each operation gets an equal share. Within an operation, the new entries (NextAttemptAt is nil) and the
	// retries (all others) each get half. A share that is not used up goes to the others. If a share has room for one
	// entry, retries come first if the second of at is even, and new entries if it is odd. If there are more resolvers
	// than limit, the resolvers of the first targets come first. Among the new entries of a target, Claim takes the oldest
	// by (EnqueuedAt, EntryID). Among its retries, Claim takes the entries that have been due the longest, by
	// (NextAttemptAt, EnqueuedAt, EntryID).
	//
	// The cost does not grow with the number of entries that are settled, leased, waiting, or of other targets.
	//
	// A clock that was ahead must not keep an entry waiting. An open entry is therefore also due if its NextAttemptAt is
	// after domain.LatestNextAttempt, or if its LastAttemptAt is after leaseUntil. The clocks of processes that share an
	// outbox must differ by less than a lease.
	//
	// An entry is unreadable if the store cannot decode one of its fields, such as the subject, the ref or the
	// corrections. Claim abandons an unreadable entry, with the error domain.LastErrorUnreadable and without a lease.
	// Claim returns it with the status abandoned and with the fields that could be decoded. Its SubjectID is zero if the
	// subject could not be decoded. The caller does not own this entry, and must not settle it. No method fails because of
	// an unreadable entry. The other methods return the fields that could be decoded.
	Claim(
		ctx context.Context, limit int, at, leaseUntil time.Time, leaseToken string, known ...domain.OutboxTarget,
	) ([]domain.OutboxEntry, error)

	// Unclaimed finds up to limit entries that no process claims. These entries are pending, failed or in flight, they
	// were enqueued before dueBefore, and their NextAttemptAt is nil or before dueBefore. Unclaimed sets their error to
	// domain.LastErrorUnclaimed and changes nothing else. It returns them, oldest first by (EnqueuedAt, EntryID). It skips
	// an entry that has this error already, so that only one of several callers gets the entry. The entries stay due for
	// Claim.
	Unclaimed(ctx context.Context, dueBefore time.Time, limit int) ([]domain.OutboxEntry, error)

	// Settle writes the outcomes of claimed entries, and returns a result for each settlement, in the same order. A
	// settlement is stale if its lease token is no longer the lease token of the entry. A stale settlement changes
	// nothing. Otherwise Settle clears the lease token of the entry. It clears the ref and the corrections as
	// domain.Settlement describes. Without settlements, Settle does nothing and returns no error.
	//
	// An operation is the set of entries with the same subject, Operation and OperationID. Completes is set on the last
	// successful settlement of an operation after which every entry of the operation has succeeded. Abandoned
	// rectifications do not count, because a rectification is issued again and never requeued. Settle decides this under a
	// lock. If several sessions settle entries of one operation concurrently, Completes is set in exactly one of them.
	Settle(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error)

	// Counts returns the number of entries in each status. Every status is in the map, with 0 if it has no entries.
	Counts(ctx context.Context) (map[domain.OutboxStatus]int64, error)

	// Abandoned returns up to limit abandoned entries, oldest first by (EnqueuedAt, EntryID). It starts behind the entry
	// that the parameter after names, or with the oldest entry if after is nil.
	Abandoned(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error)

	// Requeue makes abandoned erasures pending again, with the state of an entry that was never tried. It returns them,
	// oldest first. It ignores entries that are not abandoned or that are not erasures.
	Requeue(ctx context.Context, entryIDs []string) ([]domain.OutboxEntry, error)

	// Withdraw abandons the rectifications of the subject that are pending, failed or in flight, and clears their refs and
	// corrections. It returns them, oldest first. An erasure calls it, because a rectification must not be carried out
	// after an erasure and its data must not remain. An entry in flight loses its lease, so that its settlement will be
	// stale.
	Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error)

	// Purge removes up to limit entries that have succeeded and were enqueued before an instant. It returns the number of
	// removed entries.
	Purge(ctx context.Context, enqueuedBefore time.Time, limit int) (int64, error)
}

// AuditLog keeps the audit trail. The trail is append-only: the port has no operation that changes or removes an event.
// A store rejects such changes if it can.
type AuditLog interface {
	// Append adds events. They are stored if and only if the session commits. Returns domain.ErrConflict if an EventID
	// exists already.
	Append(ctx context.Context, events ...domain.AuditEvent) error

	// AppendEvidence adds events that must survive a rollback. If the session commits, they commit with it like other
	// events. If the session rolls back, they are then written in a separate transaction. Evidence of an attempt that
	// SessionFactory.Do retries is dropped with the attempt. If the evidence cannot be written, Do returns an error for
	// that in addition to the error that caused the rollback. AppendEvidence accepts events even after a statement of the
	// session has failed, and then returns the error of the statement. Most evidence is about such a failure.
	AppendEvidence(ctx context.Context, events ...domain.AuditEvent) error

	// AppendOnRollback adds events that are written only if the session rolls back. An example is the failure of an
	// operation that had succeeded until the commit. The events are written after the rollback, together with the evidence
	// and after it, in one atomic write. A lost connection can hide that the session did commit. The evidence then exists
	// already, so that the atomic write fails and writes nothing. The events are dropped if the session commits, and with
	// an attempt that SessionFactory.Do retries. Like evidence, they are accepted even after a statement of the session
	// has failed.
	AppendOnRollback(ctx context.Context, events ...domain.AuditEvent) error

	// Trail returns the subject's events in the order in which the store accepted them, independent of clocks. The events
	// of one session are in the order in which they were appended. Whole numbers of a payload are returned as int64.
	Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error)
}
