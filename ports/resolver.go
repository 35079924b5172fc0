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

// KeyResolver is a Resolver whose system keeps things, such as files, under keys that the application holds in columns
// of its own, see domain.Annotation.Ref. A call has 1 to domain.MaxKeys keys, each not empty and each once. Which keys
// are valid is up to the system: a key that can never be one is a *domain.ResolverError. A key is matched as a whole:
// it never reaches what is under other keys that begin with it. An error never holds a key.
type KeyResolver interface {
	Resolver

	// ExportKeys returns what the system holds under the keys, within the covered surface. A key that the system does not
	// know has no records, which is no error. The rest is as for ExportSubject.
	ExportKeys(ctx context.Context, keys []string) ([]domain.ExportRecord, error)

	// EraseKeys erases what the system holds under the keys, and nothing else, and returns how many of them it did not
	// know. A key that is not there, or not there any more, is a success. It may be called again for the same entryID,
	// which is an idempotency key, also after it has erased some of the keys. Errors are as for EraseSubject.
	EraseKeys(ctx context.Context, keys []string, entryID string) (absent int, err error)
}
