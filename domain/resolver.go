package domain

import (
	"strings"
	"time"
)

// ResolverError is a permanent error of an external system. A retry would fail again, so a person has to handle the
// error. The text names the resolver and the failure, such as an HTTP status. It never contains an identifier, a token
// or a message of the vendor.
type ResolverError struct {
	Resolver string
	Message  string // safe to log, such as "DELETE returned status 403"
	Err      error  // the cause, or nil; not part of the text
}

// Error implements error.
func (e *ResolverError) Error() string { return "habeas: resolver " + e.Resolver + ": " + e.Message }

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *ResolverError) Unwrap() error {
	if e == nil { // a resolver may return a nil pointer as its error
		return nil
	}
	return e.Err
}

// RetryLaterError is a temporary error of an external system. The system may state when to retry. As in a
// ResolverError, the text never contains an identifier, a token or a message of the vendor.
type RetryLaterError struct {
	Resolver string
	Message  string        // safe to log, such as "POST returned status 429"
	After    time.Duration // the minimum wait before a retry; 0 if the system does not state it
	Err      error         // the cause, or nil; not part of the text
}

// Error implements error.
func (e *RetryLaterError) Error() string { return "habeas: resolver " + e.Resolver + ": " + e.Message }

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *RetryLaterError) Unwrap() error {
	if e == nil { // a resolver may return a nil pointer as its error
		return nil
	}
	return e.Err
}

// ErasureCall is what a resolver knows about a call for an erasure or for corrections. An outbox entry may wait for
// days, and the ref or the key may identify a new person or a new item by then.
type ErasureCall struct {
	EntryID string // the id of the outbox entry: the idempotency key of the call
	// RequestedAt is the instant of the erasure or the rectification. It stays the same in every attempt, after a requeue,
	// and in a replay. For the keys that a sweep erases, it is the instant of the sweep.
	RequestedAt time.Time
	Attempt     int // the number of this attempt; starts at 1, also after a requeue
}

// RectificationCall is what a resolver knows about a call for corrections.
type RectificationCall = ErasureCall

// maxClockDifference is the difference between the clocks of two systems that ErasureCall.IsLater tolerates.
const maxClockDifference = time.Hour

// IsLater reports whether the external system made a record more than an hour after the erasure or the rectification.
// Such a record belongs to someone else. The hour covers the difference between the clocks of the two systems. If
// IsLater reports true, spare the record and return ErrSpared.
func (c ErasureCall) IsLater(made time.Time) bool {
	return made.Sub(c.RequestedAt) > maxClockDifference
}

// CoveredSurface declares the data of an external system that a resolver exports and erases, and the data that it
// leaves out. It shows how complete an export is.
type CoveredSurface struct {
	Fields     []CoveredField `json:"fields"`
	Exclusions []string       `json:"exclusions"` // data of the system that the resolver leaves out
	Notes      []string       `json:"notes"`      // further facts for the reader, such as a recovery window
}

// CoveredField is a field of an export. {id} in its name matches any text that is not empty. For example,
// conversation.{id}.state covers conversation.7.state.
type CoveredField struct {
	Field    string   `json:"field"`
	Category Category `json:"category"`
}

// Covers reports whether the surface contains the record's field with the record's category.
func (s CoveredSurface) Covers(record ExportRecord) bool {
	for _, field := range s.Fields {
		if field.Category == record.Category && field.matches(record.Field) {
			return true
		}
	}
	return false
}

func (f CoveredField) matches(name string) bool {
	before, after, isFamily := strings.Cut(f.Field, "{id}")
	if !isFamily {
		return name == f.Field
	}
	id, ok := strings.CutPrefix(name, before)
	if !ok {
		return false
	}
	id, ok = strings.CutSuffix(id, after)
	return ok && id != ""
}
