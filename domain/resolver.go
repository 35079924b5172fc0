package domain

import (
	"strings"
	"time"
)

// ResolverError says that an external system refused for good: trying again would be refused again, and a person has
// to look. Its text names the resolver and what it met, such as a status, never an identifier, a token or what the
// vendor wrote.
type ResolverError struct {
	Resolver string
	Message  string // safe to log, such as "DELETE was answered 403"
	Err      error  // the cause, or nil; not part of the text
}

// Error implements error.
func (e *ResolverError) Error() string { return "habeas: resolver " + e.Resolver + ": " + e.Message }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *ResolverError) Unwrap() error {
	if e == nil { // a resolver may return a nil pointer as its error
		return nil
	}
	return e.Err
}

// RetryLater says that an external system failed for now, and when to come back. Its text is bound by the rule of
// ResolverError.
type RetryLater struct {
	Resolver string
	Message  string        // safe to log, such as "POST was answered 429"
	After    time.Duration // not before that much time has passed; 0 when the system did not say
	Err      error         // the cause, or nil; not part of the text
}

// Error implements error.
func (e *RetryLater) Error() string { return "habeas: resolver " + e.Resolver + ": " + e.Message }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *RetryLater) Unwrap() error {
	if e == nil { // a resolver may return a nil pointer as its error
		return nil
	}
	return e.Err
}

// CoveredSurface says what of an external system a resolver exports and erases, and what not: it answers the question
// whether an export is complete.
type CoveredSurface struct {
	Fields     []CoveredField `json:"fields"`
	Exclusions []string       `json:"exclusions"` // what the system holds that the resolver leaves out
	Notes      []string       `json:"notes"`      // what else a reader should know, such as a recovery window
}

// CoveredField is a field of an export, or, with {id} in its name, a family of fields: {id} stands for any text.
type CoveredField struct {
	Field    string   `json:"field"`
	Category Category `json:"category"`
}

// Covers reports whether the surface has the record's field in the record's category.
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
