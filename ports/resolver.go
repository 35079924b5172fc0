package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Resolver exports and erases the personal data of one external system. It is safe for concurrent use, opens no
// session, and honours the deadline of its context.
type Resolver interface {
	// Name identifies the system in outbox entries, exports and the audit trail. It is the kind of the refs that are sent
	// to the system. Name returns the same text in every call and after every restart, because waiting entries refer to
	// the resolver by its name.
	Name() string

	// CoveredSurface declares the data of the system that the resolver exports and erases, and the data that it leaves
	// out. It returns the same value in every call.
	CoveredSurface() domain.CoveredSurface

	// ExportSubject returns the data that the system holds about the subject of ref, within the covered surface. It
	// returns no records and no error if the system does not know the subject. The caller sets Source, and copies the
	// records before it uses them. If one record is invalid (see domain.ExportRecord), the caller drops all of them and
	// lists the system as incomplete in the export.
	//
	// ctx is the context of a request at most, and ends with the request. A call that continues after the end of ctx gets
	// no values from ctx.
	ExportSubject(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error)

	// EraseSubject erases the subject of ref. It is called at least once per entryID. The entryID serves as the
	// idempotency key: a worker may die after a successful call and before it records the success. If the subject is
	// already gone, return alreadyAbsent and no error.
	//
	// Return a *domain.ResolverError if a retry cannot succeed. The entry is then abandoned, and a person has to handle
	// it. Any other error is retried until the entry reaches the limit of attempts or of age. After a *domain.RetryLater,
	// the retry waits at least for the time that the error states, up to domain.LongestWait.
	EraseSubject(ctx context.Context, ref domain.SubjectRef, entryID string) (alreadyAbsent bool, err error)
}

// RectifyingResolver is a Resolver that can also correct the data that the system holds.
type RectifyingResolver interface {
	Resolver

	// RectifySubject writes the corrections, which are keyed by category. Each value is a string, a bool, a json.Number,
	// or the decoded form of a domain.JSON. The decoded form is the result of encoding/json with json.Number for numbers.
	// Errors and repeated calls are as for EraseSubject.
	RectifySubject(ctx context.Context, ref domain.SubjectRef, entryID string, corrections domain.Corrections) error
}

// KeyResolver is a Resolver whose system stores items, such as files, under keys. The application stores these keys in
// its own columns (see domain.Annotation.Ref). A call has 1 to domain.MaxKeys keys. The keys of a call are not empty
// and differ from each other.
//
// The system decides which keys are valid. Return a *domain.ResolverError for a text that can never be a key. A
// resolver compares a key as a whole: a call for a key never affects items under longer keys that begin with it. An
// error never contains a key.
type KeyResolver interface {
	Resolver

	// ExportKeys returns the data that the system holds under the keys, within the covered surface. It returns no records
	// and no error for a key that the system does not know. All other rules are as for ExportSubject.
	ExportKeys(ctx context.Context, keys []string) ([]domain.ExportRecord, error)

	// EraseKeys erases the items under the keys, and nothing else. It returns the number of keys that the system did not
	// know. A key without an item is a success. EraseKeys is called at least once per entryID, which serves as the
	// idempotency key. It may be called again after it has erased some of the keys. Errors are as for EraseSubject.
	EraseKeys(ctx context.Context, keys []string, entryID string) (absent int, err error)
}
