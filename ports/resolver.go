package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Resolver answers for one external system that holds personal data. It is safe for concurrent use, opens no
// session, and honours the deadline of its context.
type Resolver interface {
	// Name identifies the system, in outbox entries, exports and the audit trail, and is the kind of the refs that go
	// to it. It never changes: entries that are waiting name it.
	Name() string

	// CoveredSurface says what of the system the resolver exports and erases, and what not. It never changes.
	CoveredSurface() domain.CoveredSurface

	// ExportSubject returns what the system holds about the subject that ref names, within the covered surface. A
	// subject that the system does not know has no records, which is no error. Source is filled in by the caller, who
	// copies the records before it uses them. A record that is not valid (see domain.ExportRecord) makes all of them
	// useless: the export then names the system as incomplete.
	//
	// ctx may be that of a request and ends with it. A call that goes on after the end of ctx gets no values from it.
	ExportSubject(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error)

	// EraseSubject erases the subject that ref names. It may be called again for the same entryID, which is an
	// idempotency key, and after a success that nobody heard of: a subject that is not there any more is a success
	// with alreadyAbsent.
	//
	// An error for which trying again is of no use is a *domain.ResolverError; the entry is then abandoned to a person.
	// Every other error is tried again, a *domain.RetryLater not before its time.
	EraseSubject(ctx context.Context, ref domain.SubjectRef, entryID string) (alreadyAbsent bool, err error)
}

// RectifyingResolver is a Resolver that can also correct what the system holds.
type RectifyingResolver interface {
	Resolver

	// RectifySubject writes the corrections, by category. Each value is a string, a bool, a json.Number, or, of a
	// domain.JSON, what encoding/json decodes with json.Number for numbers. Errors and repetition are as for EraseSubject.
	RectifySubject(ctx context.Context, ref domain.SubjectRef, entryID string, corrections domain.Corrections) error
}
