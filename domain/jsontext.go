package domain

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The bounds on how deeply a JSON document may be nested.
const (
	// maxStoredDepth is far below the depth at which a database refuses a document.
	maxStoredDepth = 1000
	// maxExportedDepth leaves room for the bundle: encoding/json reads 10,000 levels in all.
	maxExportedDepth = 9000
)

// Number is a decimal number in its JSON form, kept as text so that no digit is lost.
type Number string

// MarshalJSON writes the number as it is. A text that is not a finite number (PostgreSQL knows NaN and Infinity) is
// written as a string.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.isJSON() {
		return []byte(n), nil
	}
	return json.Marshal(string(n))
}

// Storable reports whether each database can store the number: it is a JSON number of at most MaxTextLength
// characters, and a float64 can hold it, if need be with fewer digits.
func (n Number) Storable() bool {
	if len(n) > MaxTextLength || !n.isJSON() {
		return false
	}
	mantissa, _, scaled := strings.Cut(strings.ToLower(string(n)), "e")
	if !scaled {
		return true // 255 digits are within the range of a float64
	}
	f, err := strconv.ParseFloat(string(n), 64)
	vanished := f == 0 && strings.ContainsAny(mantissa, "123456789")
	return err == nil && !vanished
}

// isJSON reports whether n is a number by the grammar of RFC 8259, section 6. It exists beside json.Valid because
// exports encode numbers by the thousand, and json.Valid takes six times as long for one.
func (n Number) isJSON() bool {
	rest := strings.TrimPrefix(string(n), "-")
	whole := digits(rest)
	if whole == 0 || whole > 1 && rest[0] == '0' {
		return false
	}
	rest = rest[whole:]
	if fraction, ok := strings.CutPrefix(rest, "."); ok {
		if rest = fraction[digits(fraction):]; len(rest) == len(fraction) {
			return false
		}
	}
	if rest == "" || rest[0] != 'e' && rest[0] != 'E' {
		return rest == ""
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		rest = rest[1:]
	}
	return rest != "" && digits(rest) == len(rest)
}

// digits counts the digits that text begins with.
func digits(text string) (n int) {
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// JSON is a value that the application stores as JSON; it is exported as it is, and must be valid.
type JSON string

// MarshalJSON writes the stored document.
func (j JSON) MarshalJSON() ([]byte, error) { return []byte(j), nil }

// Storable reports whether each database can store the document: it is valid JSON in UTF-8, nested at most 1,000
// levels deep, without an escaped NUL or half of a surrogate pair, and with numbers that are Storable.
func (j JSON) Storable() bool {
	text := []byte(j)
	if !isJSON(text, maxStoredDepth) {
		return false
	}
	if null, lone := findEscapes(text); null || lone {
		return false
	}
	for token := range jsonTokens(text) {
		if strings.IndexByte("-0123456789", token[0]) >= 0 && !Number(token).Storable() {
			return false
		}
	}
	return true
}

// isJSON reports whether text is valid JSON (RFC 8259) in UTF-8, nested at most maxDepth levels deep.
func isJSON(text []byte, maxDepth int) bool {
	if !json.Valid(text) || !utf8.Valid(text) {
		return false
	}
	if len(text) <= 2*maxDepth { // each level takes two brackets
		return true
	}
	depth := 0
	for token := range jsonTokens(text) {
		switch token[0] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > maxDepth {
			return false
		}
	}
	return true
}

// jsonTokens yields the brackets, the strings and the numbers of valid JSON, in their order.
func jsonTokens(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 0; i < len(text); {
			end := i + 1
			switch c := text[i]; {
			case c == '"':
				for text[end] != '"' {
					if text[end] == '\\' {
						end++
					}
					end++
				}
				end++
			case c == '-' || '0' <= c && c <= '9':
				for end < len(text) && strings.IndexByte("+-.0123456789eE", text[end]) >= 0 {
					end++
				}
			case c != '[' && c != ']' && c != '{' && c != '}':
				i = end // white space, a comma, a colon, or a letter of a literal
				continue
			}
			if !yield(text[i:end]) {
				return
			}
			i = end
		}
	}
}

// HasLoneSurrogate reports whether a string in valid JSON escapes one half of a surrogate pair without the other.
// Such a half stands for no character: PostgreSQL refuses it, and encoding/json silently replaces it by another one.
func HasLoneSurrogate(text []byte) bool {
	_, lone := findEscapes(text)
	return lone
}

// findEscapes reports which escapes valid JSON has: one of NUL, and one of half of a surrogate pair without the other.
func findEscapes(text []byte) (null, lone bool) {
	for {
		start := bytes.IndexByte(text, '\\')
		if start < 0 {
			return null, lone
		}
		text = text[start:]
		unit, ok := escapedUnit(text)
		switch {
		case !ok:
			text = text[2:]
			continue
		case !utf16.IsSurrogate(unit):
			null = null || unit == 0
			text = text[6:]
			continue
		}
		text = text[6:]
		if low, _ := escapedUnit(text); utf16.DecodeRune(unit, low) == utf8.RuneError {
			lone = true
			continue
		}
		text = text[6:]
	}
}

// escapedUnit returns the UTF-16 code unit that text begins with in the form \uXXXX, and false if it does not.
func escapedUnit(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil
}
