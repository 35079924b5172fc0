package domain

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth bounds how deeply a JSON document may be nested, far below what makes a database refuse it.
const maxJSONDepth = 1000

// isStorableNumber reports whether s is a JSON number that a column of floating point can hold as well.
func isStorableNumber(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
	vanished := f == 0 && strings.ContainsAny(mantissa, "123456789")
	return len(s) <= MaxTextLength && isJSONNumber(s) && err == nil && !vanished
}

// isStorableJSON reports whether s is a document by the grammar of RFC 8259 that PostgreSQL's jsonb takes, too.
func isStorableJSON(s string) bool {
	return jsonGrammar{isStorableNumber, storableEscapeLength}.describes(s, maxJSONDepth)
}

// maxExportDepth bounds how deeply an exported document may be nested. encoding/json reads 10,000 levels, of which the
// bundle takes some.
const maxExportDepth = 9000

// isJSON reports whether s is a document by the grammar of RFC 8259, in UTF-8.
func isJSON(s string) bool {
	return jsonGrammar{isJSONNumber, escapeLength}.describes(s, maxExportDepth)
}

// jsonGrammar is the grammar of RFC 8259, with what is left to a choice.
type jsonGrammar struct {
	number func(string) bool       // whether a text is a number
	escape func(string) (size int) // the length of the escape that a text begins with; 0 if it is wrong
}

func (g jsonGrammar) describes(s string, depth int) bool {
	rest, ok := g.skip(s, depth)
	return ok && utf8.ValidString(s) && skipSpace(rest) == ""
}

func skipSpace(s string) string { return strings.TrimLeft(s, " \t\r\n") }

// skip returns what comes after the value that s begins with.
func (g jsonGrammar) skip(s string, depth int) (rest string, ok bool) {
	s = skipSpace(s)
	if s == "" || depth == 0 {
		return "", false
	}
	switch s[0] {
	case '{':
		return skipMembers(s[1:], '}', func(s string) (string, bool) {
			rest, ok := g.skipString(skipSpace(s))
			rest, colon := strings.CutPrefix(skipSpace(rest), ":")
			if !ok || !colon {
				return "", false
			}
			return g.skip(rest, depth-1)
		})
	case '[':
		return skipMembers(s[1:], ']', func(s string) (string, bool) { return g.skip(s, depth-1) })
	case '"':
		return g.skipString(s)
	}
	for _, literal := range []string{"true", "false", "null"} {
		if rest, ok := strings.CutPrefix(s, literal); ok {
			return rest, true
		}
	}
	end := len(s) - len(strings.TrimLeft(s, "+-.0123456789eE"))
	return s[end:], g.number(s[:end])
}

// skipMembers returns what comes after the members of an object or an array and the character that ends it.
func skipMembers(s string, end byte, skip func(string) (string, bool)) (rest string, ok bool) {
	if rest, ok := strings.CutPrefix(skipSpace(s), string(end)); ok {
		return rest, true
	}
	for {
		if s, ok = skip(s); !ok {
			return "", false
		}
		s = skipSpace(s)
		switch {
		case s == "":
			return "", false
		case s[0] == end:
			return s[1:], true
		case s[0] != ',':
			return "", false
		}
		s = s[1:]
	}
}

// skipString returns what comes after the string that s begins with.
func (g jsonGrammar) skipString(s string) (rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", false
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return s[i+1:], true
		case s[i] < ' ':
			return "", false
		case s[i] == '\\':
			n := g.escape(s[i:])
			if n == 0 {
				return "", false
			}
			i += n - 1
		}
	}
	return "", false
}

// escapeLength is the length of the escape that s begins with; 0 for one that is wrong.
func escapeLength(s string) int {
	if len(s) > 1 && strings.ContainsRune(`"\/bfnrt`, rune(s[1])) {
		return 2
	}
	if _, ok := escapedUnit(s); ok {
		return 6
	}
	return 0
}

// storableEscapeLength is escapeLength, and 0 also for an escape that stands for NUL or is half of a surrogate pair.
func storableEscapeLength(s string) int {
	length := escapeLength(s)
	if length < 6 {
		return length
	}
	high, _ := escapedUnit(s)
	switch {
	case high == 0:
		return 0
	case !utf16.IsSurrogate(high):
		return length
	}
	low, ok := escapedUnit(s[6:])
	if !ok || utf16.DecodeRune(high, low) == utf8.RuneError {
		return 0
	}
	return 12
}

// escapedUnit reads an escape like \u00e9.
func escapedUnit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(unit), err == nil
}
