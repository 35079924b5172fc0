// Package search has the results of a search for values in a database, and the forms in which a database may store a
// value: as text, escaped in JSON, in hexadecimal digits or in base64.
package search

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
)

// The limits of a search for values.
const (
	MinSearchLength = 3 // minimum characters of a value, without spaces at either end; the maximum is domain.MaxTextLength
	MaxSearchValues = 100
)

// Result is the result of a search for values. It identifies each value by its index in the list of searched
// values, and contains no value.
type Result struct {
	// Occurrences are ordered by table, column and index of the value. Tables are ordered by name, with the tables of
	// habeas last. A value that was not found has no Occurrence.
	Occurrences []Occurrence `json:"occurrences"`
	// Gaps are the tables and columns that could not be searched completely, ordered by table.
	Gaps []Gap `json:"gaps"`
	// NotFound are the indexes of the values that have no Occurrence.
	NotFound []int `json:"not_found"`
	// Skipped are the views and columns that no search reads, in the order of the tables. They are no gaps.
	Skipped []Gap `json:"skipped"`
}

// Complete returns the result with NotFound for a search of the given number of values.
func (r Result) Complete(values int) Result {
	r.NotFound = []int{}
	for i := range values {
		if !slices.ContainsFunc(r.Occurrences, func(o Occurrence) bool { return o.Value == i }) {
			r.NotFound = append(r.NotFound, i)
		}
	}
	return r
}

// Occurrence is the number of rows of a table that hold a value in a column.
type Occurrence struct {
	Value  int    `json:"value"` // the index of the value in the list of searched values
	Table  string `json:"table"`
	Column string `json:"column"`
	Rows   int64  `json:"rows"` // 1 or more
}

// Gap is a table or a column that a search could not, or did not, read completely.
type Gap struct {
	Table  string    `json:"table"`
	Column string    `json:"column,omitempty"` // empty for all columns of the table
	Reason GapReason `json:"reason"`
}

// GapReason is the reason of a Gap.
type GapReason string

// The reasons of a Gap.
const (
	GapPrivilege   GapReason = "privilege"    // the connection lacks the privilege to read
	GapOwner       GapReason = "owner"        // a role that the connection does not trust could run code, see OfAllOwners
	GapRowSecurity GapReason = "row_security" // row-level security may hide rows, and its policies may run code
	GapTimeout     GapReason = "timeout"      // the database ended the statement because of a timeout
	GapFailed      GapReason = "failed"       // the table cannot be read, such as a table on an unavailable server
)

// The reasons why a search skips a view or a column.
const (
	SkippedView GapReason = "view" // its rows are in tables
	SkippedType GapReason = "type" // it holds times, truth values or the values of an enumeration
)

type allOwners struct{}

// OfAllOwners returns a context for a search that also reads the tables of roles that the connection does not trust.
// Such a role can make PostgreSQL run its code with the rights of the connection, even while a table is only read.
func OfAllOwners(ctx context.Context) context.Context {
	return context.WithValue(ctx, allOwners{}, true)
}

// IsOfAllOwners reports whether OfAllOwners made ctx.
func IsOfAllOwners(ctx context.Context) bool { return ctx.Value(allOwners{}) != nil }

// Progress is the progress of a search.
type Progress struct {
	Table  string `json:"table"` // the table that is searched next; empty at the end
	Done   int    `json:"done"`  // number of tables that were searched
	Tables int    `json:"tables"`
}

// CheckSearchValues checks the values of a search. It returns domain.ErrInvalid with a domain.FieldError for each
// mistake. domain.FieldError.Field is "values" if there are no values or more than MaxSearchValues. It is "values[i]"
// if value i is shorter than MinSearchLength or longer than domain.MaxTextLength, is not valid UTF-8, or contains NUL.
func CheckSearchValues(values []string) error {
	var fields []domain.FieldError
	switch {
	case len(values) == 0:
		fields = []domain.FieldError{{Field: "values", Code: domain.FieldRequired, Message: "must not be empty"}}
	case len(values) > MaxSearchValues:
		fields = []domain.FieldError{{
			Field: "values", Code: domain.FieldTooLong,
			Message: "must be at most " + strconv.Itoa(MaxSearchValues),
		}}
	}
	for i, value := range values {
		field := "values[" + strconv.Itoa(i) + "]"
		faults := domain.CheckText(field, value, 1)
		if len(faults) == 0 && utf8.RuneCountInString(strings.TrimSpace(value)) < MinSearchLength {
			faults = []domain.FieldError{{
				Field: field, Code: domain.FieldTooShort,
				Message: "must have at least " + strconv.Itoa(MinSearchLength) + " characters",
			}}
		}
		fields = append(fields, faults...)
	}
	return domain.Invalid("find", fields)
}

// Foldings returns the characters that a search treats as equal to r: r itself, and the characters that differ from r
// only by case. For an ASCII character, all of them are ASCII.
func Foldings(r rune) []rune {
	all := []rune{r}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		if r > unicode.MaxASCII || other <= unicode.MaxASCII {
			all = append(all, other)
		}
	}
	return all
}

// Pattern returns the regular expression by which a search finds a value. The expression matches a text that
// contains the value in upper or lower case. It also matches these forms of the value:
//
//   - Characters are escaped as in JSON, such as \" or \u00e9, but not ASCII letters and digits.
//   - Quotes and backslashes are doubled or escaped, once or several times, as in composite values and arrays of
//     PostgreSQL, and in JSON in JSON. Bytes above 127 are octal numbers, as in the format escape of PostgreSQL.
//   - The value has at least MinEncodedLength bytes and is in hexadecimal digits, or in base64, also across lines.
//
// The syntax works in package regexp and in PostgreSQL.
func Pattern(value string) string {
	patterns := []string{plainPattern(value)}
	if len(value) >= MinEncodedLength {
		for _, form := range Base64Forms(value) {
			patterns = append(patterns, form.wrappedPattern())
		}
		patterns = append(patterns, HexForm(value).Pattern())
	}
	return strings.Join(patterns, "|")
}

func plainPattern(value string) string {
	var pattern strings.Builder
	for _, r := range value {
		if r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			pattern.WriteString("[" + string(Foldings(r)) + "]")
			continue
		}
		var forms []string
		for _, form := range Foldings(r) {
			forms = append(forms, plainForm(form), escapedForm(form))
			if form > unicode.MaxASCII {
				forms = append(forms, octalForm(form))
			}
		}
		if short, ok := shortForms[r]; ok {
			forms = append(forms, escape+short)
		}
		pattern.WriteString("(?:" + strings.Join(forms, "|") + ")")
	}
	return pattern.String()
}

// escape is the regular expression for the backslash of an escape. The escape may be escaped itself.
const escape = `\\+`

// shortForms maps a character to the regular expression for its short escape in JSON, such as \n. The expression
// matches the part after the backslash.
var shortForms = map[rune]string{'\b': "b", '\f': "f", '\n': "n", '\r': "r", '\t': "t", '/': "/"}

// repeatedForms maps a character to the regular expression for the character itself, doubled, and escaped.
var repeatedForms = map[rune]string{'"': `[\\"]*"`, '\'': `'+`, '\\': escape}

// plainForm returns the regular expression for the character itself, not for an escape of JSON.
func plainForm(r rune) string {
	if repeated, ok := repeatedForms[r]; ok {
		return repeated
	}
	if r > unicode.MaxASCII || unicode.IsControl(r) {
		return string(r)
	}
	return `\` + string(r)
}

// octalForm returns the regular expression for the bytes of a character as octal numbers.
func octalForm(r rune) string {
	var form strings.Builder
	for _, b := range []byte(string(r)) {
		form.WriteString(escape + fmt.Sprintf("%03o", b))
	}
	return form.String()
}

// escapedForm returns the regular expression for the JSON escape \uXXXX of a character. A character above U+FFFF has
// two such escapes, one for each half of its UTF-16 surrogate pair.
func escapedForm(r rune) string {
	units := []rune{r}
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		units = []rune{high, low}
	}
	var form strings.Builder
	for _, unit := range units {
		form.WriteString(escape + "u")
		for _, digit := range fmt.Sprintf("%04x", unit) {
			form.WriteString("[" + string(Foldings(digit)) + "]")
		}
	}
	return form.String()
}
