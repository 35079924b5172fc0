package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// ConsentStore keeps the consent ledger. It is append-only: there is no way to change or remove a record.
type ConsentStore interface {
	// Append adds a record. Its instant is kept to the microsecond.
	Append(ctx context.Context, record domain.ConsentRecord) error

	// Latest returns the record in force, by ConsentRecord.Supersedes, among the subject's records for the purpose;
	// with asOf, among those recorded at that instant or before; of equals the one appended last. It is nil when there
	// is none.
	Latest(ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time) (*domain.ConsentRecord, error)

	// History returns the subject's records for the purpose, oldest first; those of one instant in the order they
	// were appended.
	History(ctx context.Context, id domain.SubjectID, purpose string) ([]domain.ConsentRecord, error)
}

// RestrictionStore keeps the restriction ledger. It is append-only, like ConsentStore.
type RestrictionStore interface {
	// Append adds a record. Its instant is kept to the microsecond.
	Append(ctx context.Context, record domain.RestrictionRecord) error

	// Latest returns the records in force, by RestrictionRecord.Supersedes: the one among the subject's global
	// records, and the one among those for the purpose when there is a purpose; of equals the one appended last. Either
	// is nil when there is none.
	Latest(ctx context.Context, id domain.SubjectID, purpose *string) (global, scoped *domain.RestrictionRecord, err error)

	// History returns the subject's records, global ones when purpose is nil, else those for the purpose; oldest
	// first, those of one instant in the order they were appended.
	History(ctx context.Context, id domain.SubjectID, purpose *string) ([]domain.RestrictionRecord, error)
}

// SubjectStore reads and erases a subject's rows in the application's own tables, as the data map that the store was
// built with describes them. The subject's id is checked by domain.DataMap.Key before any statement. Rows that the
// application has marked as deleted (soft deletion) are rows like any other here.
//
// The number of statements never depends on the number of rows.
type SubjectStore interface {
	// Lock makes this erasure the only one of the subject: another session that locks the same subject waits until
	// this one ends. It leaves a mark of the erasure with the instant at, by which a subject that was created anew
	// can be told from one that was never erased.
	Lock(ctx context.Context, id domain.SubjectID, at time.Time) error

	// Apply carries out one local step of a plan on all rows of the subject, and returns how many rows it deleted,
	// anonymized, or, for a retain step, left as they are. Anonymizing writes a surrogate that fits the column's
	// type, never NULL, and a different one into every text and UUID cell, unless the data map has a constant
	// for the column. No row of another subject is touched.
	Apply(ctx context.Context, id domain.SubjectID, step domain.Step) (rows int64, err error)

	// Export calls yield for every annotated field of every row of the subject: table by table in the order of
	// domain.DataMap.Tables, rows by primary key, fields in the order of the table. All of it is read from one
	// snapshot. An error of yield ends the export and comes back. Export must come before any write of its session,
	// else it is domain.ErrSession; appends that are held back are no obstacle.
	Export(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error
}

// Outbox keeps what external systems still have to be told.
type Outbox interface {
	// Enqueue adds entries, which become visible to others with the commit of the session.
	Enqueue(ctx context.Context, entries ...domain.OutboxEntry) error
}

// AuditLog keeps the audit trail. It is append-only: the port has no way to change or remove an event, and a store
// refuses both where it can.
type AuditLog interface {
	// Append adds events, which exist exactly when the session commits.
	Append(ctx context.Context, events ...domain.AuditEvent) error

	// AppendEvidence adds events that must outlive a rollback: they commit with the session like any others, and
	// when the session rolls back they are written afterwards in a transaction of their own. Evidence of an attempt
	// that SessionFactory.Do retried is dropped with the attempt. Where even the evidence cannot be written, the
	// error of Do says so beside the error that caused the rollback.
	AppendEvidence(ctx context.Context, events ...domain.AuditEvent) error

	// Trail returns the subject's events in the order they were committed; those of one session in the order they
	// were appended.
	Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error)
}
