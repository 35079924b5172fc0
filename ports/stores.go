package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// ConsentStore keeps the consent ledger. It is append-only: there is no way to change or remove a record, and a store
// refuses both where it can.
//
// The order of intake decides which record is in force: the order in which the store took the records in, by a sequence
// of its own and never by a clock. A record whose session was committed before another session began was taken in
// before each record of that one; those of one session are taken in as they were appended. Records of one subject that
// sessions append at the same time are in the order in which the sessions commit.
type ConsentStore interface {
	// Append adds a record. Its instant is kept to the microsecond.
	Append(ctx context.Context, record domain.ConsentRecord) error

	// Latest returns the record in force: the one taken in last among the subject's records for the purpose; with asOf,
	// among those of them whose instant is asOf or before. It is nil when there is none.
	Latest(ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time) (*domain.ConsentRecord, error)

	// InForce returns the record in force for each purpose of which the subject has a record, grants and withdrawals
	// alike, in the order of intake. It is one statement, whatever the number of purposes.
	InForce(ctx context.Context, id domain.SubjectID) ([]domain.ConsentRecord, error)

	// History returns the subject's records for the purpose in the order of intake, whatever their instants are.
	History(ctx context.Context, id domain.SubjectID, purpose string) ([]domain.ConsentRecord, error)
}

// RestrictionStore keeps the restriction ledger. It is append-only, and its order is that of intake, like ConsentStore.
// Only the reasons, which are free text, can be cleared.
type RestrictionStore interface {
	// Append adds a record. Its instant is kept to the microsecond.
	Append(ctx context.Context, record domain.RestrictionRecord) error

	// Latest returns the records in force: the one taken in last among the subject's global records, and among those for
	// the purpose when there is a purpose. Either is nil when there is none.
	Latest(ctx context.Context, id domain.SubjectID, purpose *string) (global, scoped *domain.RestrictionRecord, err error)

	// History returns the subject's records in the order of intake, whatever their instants are: global ones when purpose
	// is nil, else those for the purpose.
	History(ctx context.Context, id domain.SubjectID, purpose *string) ([]domain.RestrictionRecord, error)

	// ClearReasons makes the reason nil in all records of the subject, those that this session appended before included,
	// and changes nothing else. It may be held back like an append; a record that is appended later keeps its reason.
	ClearReasons(ctx context.Context, id domain.SubjectID) error
}

// SubjectStore reads, erases and corrects a subject's rows in the application's own tables, as the data map that the
// store was built with describes them. The subject's id is checked by domain.DataMap.Key before any statement. Rows
// that the application has marked as deleted (soft deletion) are rows like any other here.
//
// The number of statements never depends on the number of rows.
type SubjectStore interface {
	// Lock makes this erasure the only one of the subject: another session that locks the same subject, by Lock or by
	// LockToRectify, waits until this one ends. It leaves a mark of the erasure with the instant at, by which a subject
	// that was created again can be told from one that was never erased.
	//
	// It also locks the subject's own row and, from the subject outwards, the rows through which other tables reach the
	// subject. It waits for transactions that are inserting rows which refer to them by a foreign key, so that Apply
	// sees those rows. It waits for transactions that are giving such a row to another subject, so that Apply spares
	// what hangs on it. A row that refers to the subject without a foreign key is seen if it was committed before
	// Apply.
	//
	// Returns ErrSubject if the subject's table spells the id differently: the ledgers would know one row as two
	// subjects. Returns ErrConfiguration if rows cannot be locked, because of a privilege that is missing or of the
	// kind of a table.
	Lock(ctx context.Context, id domain.SubjectID, at time.Time) error

	// LockToRectify takes the lock of Lock without a mark and without locks on rows. It returns what the store knows of
	// the subject. Errors are those of Lock.
	LockToRectify(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error)

	// Keys returns keys of an external system that the subject's rows hold in the columns for which domain.Table.KeysOf
	// says so, in their text form: each once, in the order of their bytes, and none that is NULL or empty. It never
	// returns more than the limit of the query; a caller that wants all of them calls again with the last one as After.
	// Of the rows of other subjects it returns nothing. It is one statement, whatever the number of rows and tables.
	//
	// With ErasedAt, the session has locked the subject, and Keys is called before Apply. The call without After locks
	// the rows: the cells that Apply erases then hold the keys that the calls return, and no other transaction has
	// changed one of them in between.
	Keys(ctx context.Context, id domain.SubjectID, query domain.KeyQuery) ([]string, error)

	// Apply carries out local steps of a plan, in their order or at once with the same outcome, and returns for each of
	// them how many rows of the subject it deleted, anonymized, or, for a retain step, left as they are. A step is
	// about the rows that the path of its Via leads from to the subject, and about its own columns of them. No row of
	// another subject is touched. A row that the steps of several paths are about is deleted if one of them deletes it,
	// and gets the effect of all of them if none does. Columns of domain.Step.Clears are set to NULL.
	//
	// Anonymizing sets to NULL each cell of a column that says domain.StrategyNull. Into each other cell, also where
	// NULL was, it writes the constant that the data map has for the column (domain.Column.Constant), with
	// domain.Column.Digits hexadecimal digits in place of each placeholder, different in every cell; or else: for texts
	// "anon-" and 32 hexadecimal digits, as much of it as the column's length allows, and for UUIDs a random one, both
	// different in every cell; 0, false, 1970-01-01 in UTC, {} for JSON, an empty array, no bytes. Cells of
	// domain.Step.Expired are overwritten where their duty is over, by domain.Period.Cutoff.
	//
	// Returns ErrManifest, and the session cannot be committed, if domain.DataMap.CheckSteps refuses the steps, or if
	// the rows of a table would be deleted together with columns that the data map does not have, unless the table is
	// owned, or if a column is to be set to NULL that the database is known to keep NOT NULL. Returns ErrConfiguration
	// if the database may hide rows of the subject from the store (row-level security, a filtering view), unless the
	// store was told that it does not. Returns ErrLeftOver if the database kept what it was told to delete or to
	// overwrite. Returns ErrConflict if rows cannot be deleted because others refer to them.
	//
	// On an error, len(rows) is the index of the step that failed, or len(steps) if the store does not know which one.
	// The caller must roll back.
	Apply(ctx context.Context, id domain.SubjectID, steps []domain.Step) (rows []int64, err error)

	// Rectify writes the values of a step into all rows of the step's table that its path leads from to the subject,
	// one statement for all of them, and returns how many rows there were; none is no error. With a Row, it writes them
	// into no row but the one whose primary key Export gives as that ExportRecord.Row, if it is the subject's. What is
	// written reads back as the same value, for the application and for Export. No row of another subject is touched,
	// and no mark of an erasure is left. Two sessions that rectify the same row come one after the other, and the later
	// one stays.
	//
	// The values fit their columns by the rules of rectification.Planner.Plan. A store that knows more of a column
	// (that its readers expect some shape of JSON, or no negative numbers) refuses a value that could not be read back
	// before it writes it, as domain.ErrInvalid with a FieldError whose field is the column's category. A step without
	// values, or about a table or a column that is not annotated in the data map, is domain.ErrManifest. Returns
	// ErrLeftOver if the database does not hold the values of the step. A value that the database writes in its own
	// form, such as lower case, counts as held.
	Rectify(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (rows int64, err error)

	// Export calls yield for every field that domain.DataMap.ExportedColumns has of every row of the subject, once; of
	// rows about several people only for those that belong to a path to the subject. The order is: table by table in the
	// order of domain.DataMap.Tables, rows by primary key, fields in the order of the table. If the subject was erased
	// before, its rows are given to domain.DataMap.MarkErased, each with the paths that lead from it to the subject.
	//
	// Then Export does so for the subject's lines of the ledgers, as domain.LedgerTables describes them, by intake;
	// domain.LedgerSeq is any number that rises with it. All of it is read from one snapshot, and handed on as it is
	// read: a record that yield does not keep takes no memory. An error of yield ends the export and comes back; yield
	// must not use the session. Export must come before any write of its session, else it is domain.ErrSession; appends
	// that are held back are not an obstacle, and need not be part of it.
	Export(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error
}

// Outbox keeps the calls to external systems that are still due. See domain.OutboxStatus for the states of an entry. A
// limit of 0 or less stands for no entry. A method takes any number of entries and ids. Counts and Abandoned only
// read: they are no write for SubjectStore.Export.
type Outbox interface {
	// Enqueue adds entries, which become visible to others with the commit of the session. An entry is new: its status is
	// pending, it has no attempts, no instant but EnqueuedAt, no error and no lease. A store need not keep any other. An
	// EntryID that is there already is domain.ErrConflict. Corrections come back, from Claim for one, as
	// domain.Corrections decodes them from JSON: a time as its text, bytes in base64, and a number, at any depth, as a
	// json.Number that has the same value, to the last digit.
	Enqueue(ctx context.Context, entries ...domain.OutboxEntry) error

	// Claim takes up to limit entries that are due and returns them, oldest first by (EnqueuedAt, EntryID). Due is what
	// is pending, failed or in flight, and whose NextAttemptAt is nil or not after at. Each becomes in_flight with one
	// attempt more, LastAttemptAt at, NextAttemptAt leaseUntil, and the lease token. Sessions that claim at the same time
	// get different entries and do not wait for each other where the store can do that. What is claimed is the caller's
	// once the session has committed, until leaseUntil: then it is due again, which heals a caller that died.
	//
	// With targets, only entries of their resolvers and operations are taken; the others stay as they are. Without any,
	// every entry is, in any order of the resolvers. Of a resolver, no more than domain.OutboxTarget.Limit are taken.
	//
	// Where more is due than the limit, the claim is shared: each resolver has an equal share, and within a resolver each
	// operation, and within that the new entries (NextAttemptAt is nil) and the retries (all others) each have half. What
	// one of them leaves over goes to the others. If a share is a single entry, retries come first where the second of at
	// is even, and new entries where it is odd; if there are more resolvers than limit, the first of the targets come
	// first. Of the new entries of a target the oldest by (EnqueuedAt, EntryID) are taken, and of its retries those that
	// have been due the longest, by (NextAttemptAt, EnqueuedAt, EntryID).
	//
	// The cost does not grow with the number of entries that are settled, leased, waiting, or of other targets.
	//
	// A clock that was ahead keeps no entry waiting: due is also what is open and has a NextAttemptAt after
	// domain.LatestNextAttempt, or a LastAttemptAt after leaseUntil. The clocks of processes that share an outbox must
	// therefore differ by less than a lease.
	//
	// An entry that cannot be read back (its subject, its ref, its corrections, or another field) is abandoned by the
	// claim, with the error domain.LastErrorUnreadable and without a lease. It is among the entries returned, with the
	// status abandoned and what could be read of it: its SubjectID is zero if that could not be read. It is not the
	// caller's, and is not to be settled. No entry that cannot be read fails this or any other method; the other methods
	// return what could be read of it.
	Claim(
		ctx context.Context, limit int, at, leaseUntil time.Time, leaseToken string, known ...domain.OutboxTarget,
	) ([]domain.OutboxEntry, error)

	// Unclaimed finds up to limit entries that are pending, failed or in flight, that were enqueued before an instant,
	// and whose NextAttemptAt is nil or before that instant too. It gives each the error domain.LastErrorUnclaimed,
	// changes nothing else, and returns them, oldest first by (EnqueuedAt, EntryID). An entry that has that error
	// already is passed over, so that exactly one of many callers gets it. Entries stay due for Claim.
	Unclaimed(ctx context.Context, dueBefore time.Time, limit int) ([]domain.OutboxEntry, error)

	// Settle writes the outcomes of claimed entries, and returns what became of each settlement, in the same order. One
	// whose lease token is not the entry's any more is stale and changes nothing. The lease token is cleared; the ref
	// and the corrections are, too, as domain.Settlement says. A settlement is marked as completing for the last one that
	// succeeded of an operation none of whose entries is left in any other state, but for abandoned rectifications, which
	// are issued anew and not requeued; this is decided under a lock, so that it is so for exactly one of the sessions
	// that settle an operation's entries at the same time. Entries belong to one operation if they have the same subject,
	// Operation and OperationID. No settlement is no error and does nothing.
	Settle(ctx context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error)

	// Counts returns how many entries there are in each status; every status is there, with 0 if need be.
	Counts(ctx context.Context) (map[domain.OutboxStatus]int64, error)

	// Abandoned returns up to limit abandoned entries, oldest first by (EnqueuedAt, EntryID), that come after the one
	// given; the first ones when after is nil.
	Abandoned(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error)

	// Requeue makes abandoned erasures pending again, as if they had never been tried, and returns them, oldest first.
	// What is not abandoned, or no erasure, is left as it is and not returned.
	Requeue(ctx context.Context, entryIDs []string) ([]domain.OutboxEntry, error)

	// Withdraw abandons the subject's rectifications that are pending, failed or in flight, with their refs and
	// corrections forgotten, and returns them, oldest first: they must not outlive an erasure, nor be carried out after
	// it. One that is in flight loses its lease, so that its outcome will be stale.
	Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error)

	// Purge removes up to limit entries that succeeded and were enqueued before an instant, and returns how many.
	Purge(ctx context.Context, enqueuedBefore time.Time, limit int) (int64, error)
}

// AuditLog keeps the audit trail. It is append-only: the port has no way to change or remove an event, and a store
// refuses both where it can.
type AuditLog interface {
	// Append adds events, which exist exactly when the session commits. An EventID that is there already is
	// domain.ErrConflict.
	Append(ctx context.Context, events ...domain.AuditEvent) error

	// AppendEvidence adds events that must outlive a rollback: they commit with the session like any others, and when
	// the session rolls back they are written afterwards in a transaction of their own. Evidence of an attempt that
	// SessionFactory.Do retried is dropped with the attempt. Where even the evidence cannot be written, the error of Do
	// says so beside the error that caused the rollback. An event is kept even when a statement of the session has
	// failed before, and the call returns that error: the failure itself is what most evidence is about.
	AppendEvidence(ctx context.Context, events ...domain.AuditEvent) error

	// AppendOnRollback keeps events that are written only if the session rolls back, such as the failure of an operation
	// that had succeeded until the commit. They are written after the rollback together with the evidence and behind it,
	// all or nothing: where the session did commit after all, as a lost connection can hide, its evidence is there
	// already, so that nothing is written. They are dropped with an attempt that SessionFactory.Do retried, and with the
	// commit. Like evidence, they are kept also when a statement of the session has failed before.
	AppendOnRollback(ctx context.Context, events ...domain.AuditEvent) error

	// Trail returns the subject's events in the order in which the store took them in, whatever the clocks said; those
	// of one session in the order they were appended. Whole numbers of a payload come back as int64.
	Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error)
}
