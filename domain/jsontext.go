package domain

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The maximum nesting depths of JSON documents.
const (
	// maxStoredDepth is the maximum nesting depth of JSON documents that are written into a database. It is far below the
	// depth at which a database refuses a document.
	maxStoredDepth = 1000
	// maxExportedDepth is the maximum nesting depth of JSON documents in an export. encoding/json decodes at most 10,000
	// levels, and the bundle itself needs some of these levels.
	maxExportedDepth = 9000
)

// Number is a decimal number in its JSON form. It is a text, so that no digit is lost by rounding.
type Number string

// MarshalJSON writes a JSON number unchanged. It writes any other text, such as NaN or Infinity from PostgreSQL, as a
// JSON string.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.isJSON() {
		return []byte(n), nil
	}
	return json.Marshal(string(n))
}

// Storable reports whether every supported database can store the number. Such a number is a JSON number of at most
// MaxTextLength characters, and is within the range of a float64. It may have more digits than a float64 holds.
func (n Number) Storable() bool {
	if len(n) > MaxTextLength || !n.isJSON() {
		return false
	}
	mantissa, _, scaled := strings.Cut(strings.ToLower(string(n)), "e")
	if !scaled {
		return true // a number of at most 255 digits is within the range of a float64
	}
	f, err := strconv.ParseFloat(string(n), 64)
	vanished := f == 0 && strings.ContainsAny(mantissa, "123456789")
	return err == nil && !vanished
}

// isJSON reports whether n is a number by the grammar of RFC 8259, section 6. A JSON text that begins with a minus or a
// digit, and ends with a digit, is a number.
func (n Number) isJSON() bool {
	const digits = "0123456789"
	return n != "" && strings.IndexByte("-"+digits, n[0]) >= 0 && strings.IndexByte(digits, n[len(n)-1]) >= 0 &&
		json.Valid([]byte(n))
}

// JSON is a value that the application stores as JSON. It must be valid JSON. An export shows the same JSON value.
type JSON string

// MarshalJSON returns the stored document unchanged.
func (j JSON) MarshalJSON() ([]byte, error) { return []byte(j), nil }

// Storable reports whether every supported database can store the document. A document is storable if it meets all of
// these conditions:
//
//   - It is valid JSON in UTF-8, nested at most 1,000 levels deep.
//   - It has no escape of NUL (\u0000).
//   - It has no escape of one half of a UTF-16 surrogate pair without the other half.
//   - All its numbers are Storable.
func (j JSON) Storable() bool {
	text := string(j)
	if !isJSON(text, maxStoredDepth) {
		return false
	}
	if null, lone := findEscapes(text); null || lone {
		return false
	}
	for token, rest := nextToken(text); token != ""; token, rest = nextToken(rest) {
		if strings.IndexByte("-0123456789", token[0]) >= 0 && !Number(token).Storable() {
			return false
		}
	}
	return true
}

// isJSON reports whether text is valid JSON (RFC 8259) in UTF-8, nested at most maxDepth levels deep.
func isJSON(text string, maxDepth int) bool {
	if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
		return false
	}
	if strings.Count(text, "[")+strings.Count(text, "{") <= maxDepth {
		return true
	}
	depth := 0
	for token, rest := nextToken(text); token != ""; token, rest = nextToken(rest) {
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

// nextToken returns the first bracket, string or number of a valid JSON text, and the text after this token. token is
// empty if the text has no further token.
func nextToken(text string) (token, rest string) {
	start := strings.IndexAny(text, `"[]{}-0123456789`) // skips white space, commas, colons and literals
	if start < 0 {
		return "", ""
	}
	text = text[start:]
	end := 1
	switch text[0] {
	case '[', ']', '{', '}':
	case '"':
		for ; text[end] != '"'; end++ {
			if text[end] == '\\' {
				end++
			}
		}
		end++
	default:
		for end < len(text) && strings.IndexByte("+-.0123456789eE", text[end]) >= 0 {
			end++
		}
	}
	return text[:end], text[end:]
}

// HasLoneSurrogate reports whether a string in valid JSON escapes one half of a UTF-16 surrogate pair without the other
// half. A lone half encodes no character. PostgreSQL refuses it, and encoding/json silently replaces it with U+FFFD.
func HasLoneSurrogate[T string | []byte](text T) bool {
	_, lone := findEscapes(text)
	return lone
}

// findEscapes searches valid JSON for two kinds of escapes. hasNUL is true if the text has an escape of NUL. hasLone is
// true if the text has an escape of one half of a UTF-16 surrogate pair without the other half.
func findEscapes[T string | []byte](text T) (hasNUL, hasLone bool) {
	for i := 0; i < len(text); {
		if text[i] != '\\' {
			i++
			continue
		}
		unit, ok := escapedUnit(text[i:])
		switch {
		case !ok:
			i += 2
			continue
		case !utf16.IsSurrogate(unit):
			hasNUL = hasNUL || unit == 0
			i += 6
			continue
		}
		i += 6
		if low, _ := escapedUnit(text[i:]); utf16.DecodeRune(unit, low) == utf8.RuneError {
			hasLone = true
			continue
		}
		i += 6
	}
	return hasNUL, hasLone
}

// escapedUnit returns the UTF-16 code unit of the escape \uXXXX at the start of text. It returns false if text does not
// start with such an escape.
func escapedUnit[T string | []byte](text T) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil
}
