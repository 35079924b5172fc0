package domain

import (
	"context"
	"errors"
	"strings"
)

// Code classifies an error. It is itself an error, so that it serves as the sentinel for errors.Is:
//
//	if errors.Is(err, domain.ErrUnavailable) { ... }
//
// Act on the code, never on the message.
type Code string

// The codes of this module. An error without one is internal.
const (
	// ErrInvalid: what the caller asked for breaks a rule; Error.Fields names each field at fault.
	ErrInvalid Code = "invalid"
	// ErrSubject: the subject that the application supplied cannot be used. A fault of the application, not of the
	// data subject: adapters fail closed.
	ErrSubject Code = "subject"
	// ErrManifest: the data map is wrong. Found at start-up, with the table and the column named.
	ErrManifest Code = "manifest"
	// ErrRetention: the data map would delete a row that a retention duty needs. Found at start-up.
	ErrRetention Code = "retention_violation"
	// ErrConfiguration: the application wired the module wrongly. Found at start-up.
	ErrConfiguration Code = "configuration"
	// ErrSession: a session was used against its contract: nested, after its end, or in the wrong order.
	ErrSession Code = "session"
	// ErrUnavailable: the store cannot be reached or is too busy just now; trying again later may succeed.
	ErrUnavailable Code = "unavailable"
	// ErrConflict: the store refused a write because of what it already holds.
	ErrConflict Code = "conflict"
	// ErrLeftOver: the database kept what an erasure told it to delete or to overwrite, or does not hold what a
	// rectification told it to write, because of a trigger, a rule or a view. The operation is rolled back.
	ErrLeftOver Code = "left_over"
)

// Error makes a Code usable as a sentinel.
func (c Code) Error() string { return "habeas: " + string(c) }

// Error is an error with a code. Its text names operations, tables, columns and fields, never a value, an
// identifier or the message of a driver or a vendor; what it wraps may hold those, and is for errors.Is and
// errors.As alone.
type Error struct {
	Code    Code
	Op      string       // what was being done, such as "record consent"
	Message string       // what was wrong, in words that are safe to log
	Fields  []FieldError // the fields at fault, for ErrInvalid
	Err     error        // the cause; not part of the text

	// Problems are all the mistakes of a data map, for ErrManifest and ErrRetention at start-up. Message has their text.
	Problems []Problem

	draft *DataMap // the data map with the mistakes, see Draft
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

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the code of e.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// As gives the code of e to errors.As with a *Code.
func (e *Error) As(target any) bool {
	code, ok := target.(*Code)
	if ok = ok && e.Code != ""; ok {
		*code = e.Code
	}
	return ok
}

// FieldError says what is wrong with one input field. Neither text repeats the value.
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

// Invalid is the ErrInvalid error for the given fields, or nil when there are none.
func Invalid(op string, fields []FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	return &Error{Code: ErrInvalid, Op: op, Message: "invalid input", Fields: fields}
}

// Misconfigured is the ErrConfiguration error for a mistake that message names.
func Misconfigured(op, message string) error {
	return &Error{Code: ErrConfiguration, Op: op, Message: message}
}

// ErrorClass names the kind of err in one word for the audit trail and for logs, where no message may stand:
// "refused" and "retry_later" for the errors of resolvers, "canceled", "timeout", the text of its Code, or "internal".
func ErrorClass(err error) string {
	var code Code
	var refused *ResolverError
	var later *RetryLater
	switch {
	case errors.As(err, &refused):
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
