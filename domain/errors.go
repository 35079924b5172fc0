package domain

import (
	"context"
	"errors"
	"strings"
)

// Code classifies an error. A Code is itself an error and serves as the sentinel for errors.Is:
//
//	if errors.Is(err, domain.ErrUnavailable) { ... }
//
// Decide by the code of an error, never by its message.
type Code string

// The codes of this module. An error without a code is internal.
const (
	// ErrInvalid: an input of the caller breaks a rule. Error.Fields names the wrong fields, if the input has fields.
	ErrInvalid Code = "invalid"
	// ErrSubject: the subject that the application supplied cannot be used. The mistake is in the application, not in the
	// request of the data subject. An HTTP adapter refuses the request.
	ErrSubject Code = "subject"
	// ErrManifest: the data map has a mistake, or a step does not follow the data map or the database. The mistakes of a
	// data map are found at start-up.
	ErrManifest Code = "manifest"
	// ErrRetention: an erasure that follows the data map would delete a value that must be kept by law, or its connection
	// to the subject. The error occurs at start-up.
	ErrRetention Code = "retention_violation"
	// ErrConfiguration: the application has set up the module wrongly, or the database lacks a migration, a privilege or
	// another prerequisite.
	ErrConfiguration Code = "configuration"
	// ErrSession: a session (one transaction with all stores) was used against its contract. For example, the caller
	// nested sessions, used a session after its end, or called its methods in the wrong order.
	ErrSession Code = "session"
	// ErrUnavailable: the store cannot be reached, is overloaded or can only be read. A later retry may succeed.
	ErrUnavailable Code = "unavailable"
	// ErrConflict: an operation conflicts with the stored data, or a value does not fit its column.
	ErrConflict Code = "conflict"
	// ErrLeftOver: the database still holds data that an erasure should have deleted or overwritten, or does not hold the
	// new values of a rectification. The cause is a trigger, a rule or a view. The operation is rolled back.
	ErrLeftOver Code = "left_over"
	// ErrSpared: a resolver has left a record alone, because the record was made after the erasure or the rectification
	// and therefore belongs to someone else. See ErasureCall.IsLater. The outbox entry is then spared.
	ErrSpared Code = "spared"
	// ErrErased: a consent was given for a person who was erased, and whose row is still there with the values of the
	// erasure. The consent is not recorded. A withdrawal is never refused, and neither is a person without a row.
	ErrErased Code = "erased"
	// ErrHeld: a legal hold stops the erasure of the subject. Nothing is erased.
	ErrHeld Code = "held"
	// ErrNotFound: there is no such request of the subject.
	ErrNotFound Code = "not_found"
	// ErrLimited: the subject has made as many requests today as the register takes.
	ErrLimited Code = "limited"
	// ErrBehind: a transaction that has erased a subject stays open. Until it ends, the journal and the verification must
	// leave out the later erasures, and have done so for too long.
	ErrBehind Code = "behind"
)

// Error implements error.
func (c Code) Error() string { return "habeas: " + string(c) }

// Error is an error with a code. Its text names operations, tables, columns and fields. The text never contains a
// value, an identifier, or a message of a database driver or an external system. Err, the wrapped error, may contain
// these. Use it only with errors.Is and errors.As.
type Error struct {
	Code    Code
	Op      string       // the operation that failed, such as "record consent"
	Message string       // the reason, in words that are safe to log
	Fields  []FieldError // the wrong fields, for ErrInvalid
	Err     error        // the cause; not part of the text

	// Problems are the mistakes of a data map, in an ErrManifest or ErrRetention error that occurs at start-up. Message
	// contains their text.
	Problems []Problem
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("habeas: ")
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	if e.Message != "" {
		b.WriteString(e.Message)
	} else {
		b.WriteString(string(e.Code))
	}
	for i, f := range e.Fields {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		b.WriteString(f.Field + " " + f.Message)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the code of e.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// As sets target to the code of e if target is a *Code.
func (e *Error) As(target any) bool {
	code, ok := target.(*Code)
	if ok = ok && e.Code != ""; ok {
		*code = e.Code
	}
	return ok
}

// ErrReadOnlyDatabase is the result of ports.SessionFactory.Probe if the database can only be read, as on a standby.
var ErrReadOnlyDatabase error = &Error{
	Code: ErrUnavailable, Op: "probe", Message: "the database can only be read: it serves reads, and nothing else",
}

// ErrNewerTables is the result of ports.SessionFactory.Probe if a newer version of habeas has applied migrations with
// which this version can work.
var ErrNewerTables error = &Error{
	Code: ErrConfiguration, Op: "probe",
	Message: "a newer version of habeas has applied migrations: this version works, and its Migrate changes nothing",
}

// FieldError describes the mistake of one input field. Its texts do not contain the value of the field.
type FieldError struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The codes of a FieldError.
const (
	FieldRequired  = "required"
	FieldTooShort  = "too_short"
	FieldTooLong   = "too_long"
	FieldType      = "type"
	FieldUnknown   = "unknown"
	FieldDuplicate = "duplicate"
	FieldCharacter = "character"
	FieldAmbiguous = "ambiguous"
)

// Invalid returns an ErrInvalid error for the given fields, or nil if fields is empty.
func Invalid(op string, fields []FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	return &Error{Code: ErrInvalid, Op: op, Message: "invalid input", Fields: fields}
}

// Misconfigured returns an ErrConfiguration error with a message that names the mistake.
func Misconfigured(op, message string) error {
	return &Error{Code: ErrConfiguration, Op: op, Message: message}
}

// ErrorClass classifies err in one word for the audit trail and for logs, which must not contain messages. The first of
// these rules that applies decides:
//
//   - "refused" for a *ResolverError or a *RefusalError
//   - "canceled" or "timeout" for the error of a context
//   - the Code of the error, if it has one
//   - "retry_later" for a *RetryLaterError
//   - "internal" for any other error
func ErrorClass(err error) string {
	var code Code
	var refused *ResolverError
	var refusal *RefusalError
	var later *RetryLaterError
	switch {
	case errors.As(err, &refused), errors.As(err, &refusal):
		return "refused"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &code):
		return string(code)
	case errors.As(err, &later):
		return "retry_later"
	default:
		return "internal"
	}
}
