package domain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The bounds on a search for values.
const (
	MinSoughtLength = 3 // characters, without spaces at either end; the most are MaxTextLength
	MaxSought       = 100
)

// Found is what a search for values has found. It names a value by its index among those sought, and holds none.
type Found struct {
	// Occurrences are in the order of tables, columns and values: tables by name, those of habeas last. There is none for
	// a value that was not found.
	Occurrences []Occurrence `json:"occurrences"`
	// Gaps are the tables and columns that could not be searched, or not as a whole, by table.
	Gaps []FindGap `json:"gaps"`
}

// Occurrence says how many rows of a table hold a value in a column.
type Occurrence struct {
	Value  int    `json:"value"` // the index of the value among those sought
	Table  string `json:"table"`
	Column string `json:"column"`
	Rows   int64  `json:"rows"` // 1 or more
}

// FindGap is a place that a search could not look at.
type FindGap struct {
	Table  string    `json:"table"`
	Column string    `json:"column,omitempty"` // empty for the table as a whole
	Reason GapReason `json:"reason"`
}

// GapReason is why a search could not look at a place.
type GapReason string

// The reasons of a FindGap.
const (
	GapPrivilege   GapReason = "privilege"    // the connection lacks the privilege to read
	GapRowSecurity GapReason = "row_security" // row-level security may hide rows; the others were searched
	GapTimeout     GapReason = "timeout"      // the database ended the statement: it took too long, or a lock did
	GapFailed      GapReason = "failed"       // a table that cannot be read, such as one on a server that is away
)

// FindProgress says how far a search has come.
type FindProgress struct {
	Table  string `json:"table"` // the table that is searched now; empty at the end
	Done   int    `json:"done"`  // tables that were searched
	Tables int    `json:"tables"`
}

// CheckSought checks the values of a search. Returns ErrInvalid with each field at fault: values if there are none or
// more than MaxSought, or values[i] for a value that is shorter than MinSoughtLength or longer than MaxTextLength, is
// not valid UTF-8, or holds NUL.
func CheckSought(values []string) error {
	var fields []FieldError
	switch {
	case len(values) == 0:
		fields = []FieldError{{"values", FieldRequired, "must not be empty"}}
	case len(values) > MaxSought:
		fields = []FieldError{{"values", FieldTooLong, "must be at most " + strconv.Itoa(MaxSought)}}
	}
	for i, value := range values {
		field := "values[" + strconv.Itoa(i) + "]"
		faults := CheckText(field, value, 1)
		if len(faults) == 0 && utf8.RuneCountInString(strings.TrimSpace(value)) < MinSoughtLength {
			faults = []FieldError{{field, FieldTooShort, "must have at least " + strconv.Itoa(MinSoughtLength) + " characters"}}
		}
		fields = append(fields, faults...)
	}
	return Invalid("find", fields)
}

// Foldings returns the characters that a search takes for r: r itself and what differs from it by its case. Those of
// ASCII characters are ASCII.
func Foldings(r rune) []rune {
	all := []rune{r}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		if r > unicode.MaxASCII || other <= unicode.MaxASCII {
			all = append(all, other)
		}
	}
	return all
}

// SoughtPattern is the regular expression that matches the texts in which a search finds the value. The syntax is that
// of package regexp and of PostgreSQL. It matches the value with any case, and as JSON may write it: characters with a
// backslash, or as \u and their number. Letters and digits of ASCII are taken not to be written so.
func SoughtPattern(value string) string {
	var pattern strings.Builder
	for _, r := range value {
		if r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			pattern.WriteString("[" + string(Foldings(r)) + "]")
			continue
		}
		var forms []string
		for _, form := range Foldings(r) {
			forms = append(forms, plainForm(form), escapedForm(form))
		}
		if short, ok := shortForms[r]; ok {
			forms = append(forms, `\\`+short)
		}
		pattern.WriteString("(?:" + strings.Join(forms, "|") + ")")
	}
	return pattern.String()
}

// shortForms are what JSON may write behind a backslash, as regular expressions.
var shortForms = map[rune]string{
	'\b': "b", '\f': "f", '\n': "n", '\r': "r", '\t': "t", '"': `"`, '\\': `\\`, '/': "/",
}

// plainForm is the regular expression for a character as it is.
func plainForm(r rune) string {
	if r > unicode.MaxASCII || unicode.IsControl(r) {
		return string(r)
	}
	return `\` + string(r)
}

// escapedForm is the regular expression for \u and the number of a character, in UTF-16.
func escapedForm(r rune) string {
	units := []rune{r}
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		units = []rune{high, low}
	}
	var form strings.Builder
	for _, unit := range units {
		form.WriteString(`\\u`)
		for _, digit := range fmt.Sprintf("%04x", unit) {
			form.WriteString("[" + string(Foldings(digit)) + "]")
		}
	}
	return form.String()
}
