package domain

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
)

// RefusalError is the error of a hook that refuses an erasure or a rectification, for example because an invoice of the
// person is not paid. The operation rolls back. A client receives the refusal as a problem document (RFC 9457), and the
// command prints Title and Detail. Logs and the audit trail contain only the class "refused".
type RefusalError struct {
	Status int    // the HTTP status, from 400 to 499; 0 means 409
	Type   string // a URI that identifies the kind of the refusal; up to 255 characters; "" means about:blank
	Title  string // a summary, cut after 255 characters; "" means the standard phrase of the status
	Detail string // the reason, cut after 1,000 characters
}

const (
	defaultRefusal  = 409
	maxDetailLength = 1000
)

// Error implements error. The text does not contain the words of the application.
func (*RefusalError) Error() string { return "habeas: the application refused the operation" }

// Check returns ErrConfiguration if e is nil, or if its Status or its Type breaks a rule. The operation of the hook
// then fails with this error instead of e.
func (e *RefusalError) Check() error {
	switch {
	case e == nil:
		return Misconfigured("hook", "a RefusalError is nil")
	case e.Status != 0 && e.Status/100 != 4:
		return Misconfigured("hook", "the status of a RefusalError must be from 400 to 499, not "+strconv.Itoa(e.Status))
	case len(e.Type) > MaxTextLength || strings.ContainsFunc(e.Type, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Misconfigured("hook", "the type of a RefusalError must be a URI of up to 255 characters")
	}
	return nil
}

// Bounded returns the refusal as it is sent: with the defaults of Status and Type, and with texts of limited length
// without control characters.
func (e *RefusalError) Bounded() RefusalError {
	return RefusalError{
		Status: cmp.Or(e.Status, defaultRefusal), Type: cmp.Or(e.Type, "about:blank"),
		Title: cut(e.Title, MaxTextLength), Detail: cut(e.Detail, maxDetailLength),
	}
}

// cut returns the first characters of a text. Each control character becomes a space.
func cut(text string, most int) string {
	characters := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
	return string(characters[:min(most, len(characters))])
}
