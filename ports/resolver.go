package ports

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// Resolver exports and erases the personal data of one external system. A Resolver is safe for concurrent use and opens
// no session. Each call returns at the latest at the deadline of its context.
type Resolver interface {
	// Name identifies the external system in outbox entries, exports and the audit trail. The refs (domain.SubjectRef)
	// that are sent to the system have this name as their kind. Name returns the same text in every call and after every
	// restart, because outbox entries that wait for a call refer to the resolver by its name.
	Name() string

	// CoveredSurface declares the data of the system that the resolver exports and erases. It also declares the data of
	// the system that the resolver leaves out. It returns the same value in every call.
	CoveredSurface() domain.CoveredSurface

	// ExportSubject returns the data that the system holds about the subject of ref, in the fields that CoveredSurface
	// lists. If the system does not know the subject, ExportSubject returns no records and no error. The caller sets the
	// field Source of the records, and copies the records before it uses them. If one record is invalid (see
	// domain.ExportRecord), the caller drops all records of this call and lists the system as incomplete in the export.
	//
	// ctx ends at the latest with the request that needs the export. If the resolver continues to work after the end of
	// ctx, it must not read values from ctx.
	ExportSubject(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error)

	// EraseSubject erases the subject of ref in the system. If the system holds no data about the subject, return true and
	// no error.
	//
	// EraseSubject may be called several times for one call.EntryID, the id of the outbox entry. It may be called again
	// even after a success, because a worker may crash before it records the success. The EntryID serves as the
	// idempotency key.
	//
	// The ref may identify a new person by the time of the call. If the system made its record later than the erasure (see
	// domain.ErasureCall.IsLater), leave the record alone and return domain.ErrSpared. The outbox entry then ends, and an
	// operator sees it. A system that never gives the id of a ref again needs no comparison.
	//
	// Return a *domain.ResolverError if a retry cannot succeed. The outbox entry is then abandoned, and a person has to
	// handle it. After any other error or a panic, EraseSubject is called again until the entry reaches a limit of
	// saga.Options (GiveUpAfter or MaxAttempts). After a *domain.RetryLaterError, the next call comes at the earliest
	// after the duration in the error. A duration above domain.LongestWait counts as domain.LongestWait.
	EraseSubject(ctx context.Context, ref domain.SubjectRef, call domain.ErasureCall) (alreadyAbsent bool, err error)
}

// RectifyingResolver is a Resolver that can also correct the data that the system holds.
type RectifyingResolver interface {
	Resolver

	// RectifySubject writes the corrections into the system. The keys of corrections are categories of data. Each value is
	// a string, a bool, a json.Number or a decoded domain.JSON. In a decoded domain.JSON, each number is a json.Number.
	// The rules for errors, repeated calls and new persons are the same as for EraseSubject.
	//
	// Each system receives the same corrections, so some of them may not apply to this system:
	//
	//   - If the system has no field of a category, ignore this category. If no category remains, return nil.
	//   - If the system does not know the person of ref, return nil and create no record of the person. An erasure may
	//     have come first.
	//   - If the system has several fields of a category, the resolver decides which of them get the value, and its
	//     documentation says which. A correction does not name a field. If the resolver cannot decide, return a
	//     *domain.ResolverError, so that a person corrects the system.
	RectifySubject(
		ctx context.Context, ref domain.SubjectRef, call domain.RectificationCall, corrections domain.Corrections,
	) error
}

// KeyResolver is a Resolver whose system stores items, such as files, under keys. The application stores these keys in
// its own columns (see datamap.Annotation.Ref). A call gets at least one key and at most datamap.MaxKeys keys. The keys
// of a call are not empty and differ from each other.
//
// A resolver follows these rules:
//
//   - For a text that can never be a key of the system, return a *domain.ResolverError.
//   - Compare complete keys: a call for the key "a" never affects an item under the key "ab".
//   - The text of an error never contains a key.
type KeyResolver interface {
	Resolver

	// ExportKeys returns the data that the system holds under the keys, in the fields that CoveredSurface lists. For a key
	// that the system does not know, it returns no records and no error. The records of different keys differ in
	// domain.ExportRecord.Row. All other rules are the same as for ExportSubject.
	ExportKeys(ctx context.Context, keys []string) ([]domain.ExportRecord, error)

	// EraseKeys erases the items under the keys, and nothing else. It returns the number of keys that the system did not
	// know. A key without an item is not an error. The rules for errors are the same as for EraseSubject. If EraseKeys
	// spares an item, it erases the items under all other keys before it returns domain.ErrSpared.
	//
	// EraseKeys is called at least once for each call.EntryID. It may be called again after a call that erased only some
	// of the keys. If one request to the system erases all keys, the EntryID serves as its idempotency key. If each key
	// needs its own request, derive an idempotency key from the EntryID and the key, such as the hash of both. With the
	// same idempotency key for all requests, the system would execute only the first one.
	EraseKeys(ctx context.Context, keys []string, call domain.ErasureCall) (absent int, err error)
}
