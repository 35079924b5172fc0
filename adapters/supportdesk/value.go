package supportdesk

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
)

// object is a JSON object whose fields are decoded only when they are read. The names of fields must match exactly. An
// object with two fields of the same name is refused, because JSON parsers differ on which of the two values they use.
type object map[string]json.RawMessage

// UnmarshalJSON implements json.Unmarshaler. It returns errShape if the JSON is not an object. JSON null isn't an
// object.
func (o *object) UnmarshalJSON(document []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(document))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return errShape
	}
	*o = object{}
	for decoder.More() {
		token, err := decoder.Token()
		name, isName := token.(string)
		if _, twice := (*o)[name]; err != nil || !isName || twice {
			return errShape
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return errShape
		}
		(*o)[name] = value
	}
	return nil
}

// reader converts the JSON value of a field to the value of a domain.ExportRecord. It returns nil if the field is
// absent or null. It returns errShape if the value has an unexpected type.
type reader func(json.RawMessage) (any, error)

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// readScalar returns a string, a boolean or a number without conversion, because the type of a field can vary. For
// example, a phone can be a number. It refuses an object or an array, which could contain data that must not be
// exported.
func readScalar(raw json.RawMessage) (any, error) {
	switch {
	case isNull(raw):
		return nil, nil //nolint:nilnil // nil means absent or null
	case raw[0] == '{' || raw[0] == '[':
		return nil, errShape
	case raw[0] == '"':
		return unquote(raw)
	case raw[0] == 't' || raw[0] == 'f':
		return raw[0] == 't', nil
	default:
		return domain.Number(raw), nil
	}
}

// These are the first and the last time that JSON can represent, in Unix seconds. Years in RFC 3339 have four digits.
var (
	earliest = float64(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	latest   = float64(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix())
)

// readTime reads a time in Unix seconds: an integer, a number with a fraction, or a string with such a number. It also
// accepts a time in the format RFC 3339, in case the vendor changes the format. It returns nil for an empty string.
func readTime(raw json.RawMessage) (any, error) {
	if isNull(raw) {
		return nil, nil //nolint:nilnil // nil means absent or null
	}
	text := string(raw)
	if raw[0] == '"' {
		unquoted, err := unquote(raw)
		if err != nil {
			return nil, err
		}
		if unquoted == "" {
			return nil, nil //nolint:nilnil // nil means absent or null
		}
		if instant, err := time.Parse(time.RFC3339, unquoted); err == nil {
			return domain.Instant(instant), nil
		}
		text = unquoted
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(earliest <= seconds && seconds <= latest) { // NaN fails, too
		return nil, errShape
	}
	whole, fraction := math.Modf(seconds)
	instant := time.Unix(int64(whole), int64(fraction*float64(time.Second)))
	return domain.Instant(instant.Round(time.Microsecond)), nil // a float64 is not more precise
}

// readID returns an id, which must be a number or a non-empty string.
func readID(raw json.RawMessage) (string, error) {
	value, err := readScalar(raw)
	if err != nil {
		return "", err
	}
	switch id := value.(type) {
	case string:
		if id != "" {
			return id, nil
		}
	case domain.Number:
		return string(id), nil
	}
	return "", errShape
}

func unquote(raw json.RawMessage) (string, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", errShape
	}
	return text, nil
}

// parseObject parses a document that must be one JSON object in UTF-8. Invalid UTF-8 is refused, because decoding would
// replace invalid bytes, and two different ids could become equal.
func parseObject(document []byte) (object, error) {
	var parsed object
	if !utf8.Valid(document) || json.Unmarshal(document, &parsed) != nil || parsed == nil {
		return nil, errShape
	}
	return parsed, nil
}
