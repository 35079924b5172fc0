package sqltext

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The types of the elements of SQLite's binary JSON, see https://sqlite.org/jsonb.html. The names that end in 5 are
// types of JSON5.
const (
	jsonbNull = iota
	jsonbTrue
	jsonbFalse
	jsonbInt
	jsonbInt5
	jsonbFloat
	jsonbFloat5
	jsonbText  // a text that needs no escapes in JSON
	jsonbTextJ // a text with the escapes of JSON
	jsonbText5
	jsonbTextRaw // a text without escapes, although JSON has to escape some of its characters
	jsonbArray
	jsonbObject
)

// maxJSONBDepth is the maximum depth of nested elements in SQLite.
const maxJSONBDepth = 1000

// textOfJSONB converts SQLite's binary JSON to JSON. It does not use SQLite's functions for this conversion, because
// they exist only in 3.45 and later. Older versions reject every statement that contains them.
func textOfJSONB(blob []byte) (text string, ok bool) {
	var out bytes.Buffer
	rest, ok := appendJSONB(&out, blob, 0)
	if !ok || len(rest) > 0 || !json.Valid(out.Bytes()) {
		return "", false
	}
	return out.String(), true
}

// appendJSONB writes the first element of a blob to out as JSON, and returns the rest of the blob.
func appendJSONB(out *bytes.Buffer, blob []byte, depth int) (rest []byte, ok bool) {
	kind, payload, rest, ok := cutJSONB(blob)
	if !ok || depth > maxJSONBDepth {
		return nil, false
	}
	switch kind {
	case jsonbNull, jsonbTrue, jsonbFalse:
		out.WriteString([]string{"null", "true", "false"}[kind])
		return rest, len(payload) == 0
	case jsonbInt, jsonbFloat:
		out.Write(payload)
	case jsonbInt5, jsonbFloat5:
		number, ok := numberOfJSON5(string(payload))
		out.WriteString(number)
		return rest, ok
	case jsonbText, jsonbTextJ:
		out.WriteByte('"')
		out.Write(payload)
		out.WriteByte('"')
	case jsonbText5:
		return rest, appendJSON5(out, string(payload))
	case jsonbTextRaw:
		quoted, err := json.Marshal(string(payload))
		out.Write(quoted)
		return rest, err == nil
	case jsonbArray, jsonbObject:
		return rest, appendJSONBMembers(out, kind, payload, depth+1)
	default:
		return nil, false
	}
	return rest, true
}

// cutJSONB splits the first element from a blob. It returns the type of the element (kind), its content (payload), and
// the rest of the blob.
func cutJSONB(blob []byte) (kind int, payload, rest []byte, ok bool) {
	if len(blob) == 0 {
		return 0, nil, nil, false
	}
	kind, size, blob := int(blob[0]&0xf), uint64(blob[0]>>4), blob[1:]
	if size > 11 { // the size is in the next 1, 2, 4 or 8 bytes
		width := 1 << (size - 12)
		if len(blob) < width {
			return 0, nil, nil, false
		}
		var number [8]byte
		copy(number[8-width:], blob)
		size, blob = binary.BigEndian.Uint64(number[:]), blob[width:]
	}
	if size > uint64(len(blob)) {
		return 0, nil, nil, false
	}
	return kind, blob[:size], blob[size:], true
}

// appendJSONBMembers writes the members of an array or an object as JSON. In the payload of an object, the name of a
// member precedes its value.
func appendJSONBMembers(out *bytes.Buffer, kind int, payload []byte, depth int) bool {
	brackets := map[int]string{jsonbArray: "[]", jsonbObject: "{}"}[kind]
	out.WriteByte(brackets[0])
	for i := 0; len(payload) > 0; i++ {
		switch {
		case kind == jsonbObject && i%2 == 1:
			out.WriteByte(':')
		case i > 0:
			out.WriteByte(',')
		}
		var ok bool
		if payload, ok = appendJSONB(out, payload, depth); !ok {
			return false
		}
	}
	out.WriteByte(brackets[1])
	return true // json.Valid rejects a malformed object
}

// numberOfJSON5 converts a number of JSON5 to a number of JSON. It handles hexadecimal numbers, a leading plus, and
// numbers without a digit before or after the decimal point.
func numberOfJSON5(number string) (string, bool) {
	sign, digits := "", strings.TrimPrefix(number, "+")
	if unsigned, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", unsigned
	}
	if len(digits) > 2 && strings.EqualFold(digits[:2], "0x") {
		n, err := strconv.ParseUint(digits[2:], 16, 64)
		return sign + strconv.FormatUint(n, 10), err == nil
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole == "" {
		whole = "0"
	}
	if fraction == "" || fraction[0] == 'e' || fraction[0] == 'E' { // such as "1." and "1.e5"
		return sign + whole + fraction, true
	}
	return sign + whole + "." + fraction, true
}

// appendJSON5 writes a text with JSON5 escapes as a JSON string. It returns false if the text ends after the backslash
// of an escape.
func appendJSON5(out *bytes.Buffer, text string) bool {
	out.WriteByte('"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			out.WriteString(`\"`)
		case c < ' ':
			fmt.Fprintf(out, `\u%04x`, c)
		case c != '\\':
			out.WriteByte(c)
		case i+1 == len(text):
			return false
		default:
			i++
			i += appendEscaped(out, text[i:])
		}
	}
	out.WriteByte('"')
	return true
}

// appendEscaped writes the JSON form of an escape of JSON5. The parameter text starts after the backslash.
// appendEscaped returns the number of bytes of the escape after the first byte.
func appendEscaped(out *bytes.Buffer, text string) (more int) {
	switch text[0] {
	case '\'':
		out.WriteByte('\'')
	case 'v':
		out.WriteString(`\u000b`)
	case '0':
		out.WriteString(`\u0000`)
	case 'x':
		if len(text) < 3 {
			out.WriteString(`\x`) // invalid, so that json.Valid rejects it
			return 0
		}
		out.WriteString(`\u00` + text[1:3])
		return 2
	case '\n':
	case '\r':
		if strings.HasPrefix(text, "\r\n") {
			return 1
		}
	default:
		for _, separator := range []string{"\u2028", "\u2029"} {
			if strings.HasPrefix(text, separator) {
				return len(separator) - 1
			}
		}
		out.WriteString(`\` + text[:1])
	}
	return 0
}
