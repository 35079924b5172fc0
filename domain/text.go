package domain

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxTextLength bounds identifiers and free-text fields, in characters (Unicode code points), not bytes.
const MaxTextLength = 255

// checkText returns what is wrong with the text of a field, or nothing: it must have minimum to MaxTextLength
// characters, be valid UTF-8 and hold no NUL, which PostgreSQL cannot store.
func checkText(field, value string, minimum int) []FieldError {
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

// CheckPurpose returns what is wrong with a purpose, or nothing: 1 to MaxTextLength characters.
func CheckPurpose(purpose string) []FieldError { return checkText("purpose", purpose, 1) }

// Instant is t as this module stores and returns it: in UTC, cut to whole microseconds, which is what PostgreSQL
// keeps, so that what an engine returns and what it reads back later are equal.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
