package domain

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxTextLength is the maximum length of identifiers and free-text fields. It counts characters (Unicode code points),
// not bytes.
const MaxTextLength = 255

// CheckText returns the error of a text field, or nil. The text must have at most MaxTextLength characters, and must
// not be empty if the parameter minimum is above 0. It must be valid UTF-8 without NUL, which PostgreSQL cannot store.
func CheckText(field, value string, minimum int) []FieldError {
	switch {
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return []FieldError{{field, FieldCharacter, "must be valid UTF-8 without NUL"}}
	case utf8.RuneCountInString(value) > MaxTextLength:
		return []FieldError{{field, FieldTooLong, "must have at most " + strconv.Itoa(MaxTextLength) + " characters"}}
	case minimum > 0 && value == "":
		return []FieldError{{field, FieldRequired, "must not be empty"}}
	default:
		return nil
	}
}

// CheckPurpose returns the error of a purpose, or nil. A purpose has 1 to MaxTextLength characters.
func CheckPurpose(purpose string) []FieldError { return CheckText("purpose", purpose, 1) }

// CheckCall checks the arguments of a service call. The parameter fields holds the errors of the arguments other than
// the id. CheckCall returns ErrSubject if the id is empty. Otherwise, it returns ErrInvalid with fields, or nil if
// fields is empty.
func CheckCall(op string, id SubjectID, fields []FieldError) error {
	if err := (Subject{ID: id}).Validate(); err != nil {
		return err
	}
	return Invalid(op, fields)
}
