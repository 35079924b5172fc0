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

// object is a JSON object whose fields are not looked into before they are wanted. Their names are matched exactly,
// which decoding into a struct does not do, and none comes twice: readers differ on the one that counts.
type object map[string]json.RawMessage

// UnmarshalJSON reads an object. Everything else, null included, is errShape.
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

// reader turns a field's JSON into the value of a record: nil for an absent or null field, else something that
// domain.ExportRecord allows. The error is errShape.
type reader func(json.RawMessage) (any, error)

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// readScalar keeps the value as it came, so that nothing is lost where a desk has a number for a phone. Only an object
// or an array is refused: either could hold anything, the exclusions included.
func readScalar(raw json.RawMessage) (any, error) {
	switch {
	case isNull(raw):
		return nil, nil //nolint:nilnil // no value is no error
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

// The instants that a JSON document can hold: RFC 3339 has years of four digits.
var (
	earliest = float64(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	latest   = float64(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix())
)

// readTime reads unix seconds, as an integer, with a fraction, or either of them as a string, and, in case a desk has
// moved on, RFC 3339. An empty string is no time.
func readTime(raw json.RawMessage) (any, error) {
	if isNull(raw) {
		return nil, nil //nolint:nilnil // no value is no error
	}
	text := string(raw)
	if raw[0] == '"' {
		unquoted, err := unquote(raw)
		if err != nil {
			return nil, err
		}
		if unquoted == "" {
			return nil, nil //nolint:nilnil // no value is no error
		}
		if instant, err := time.Parse(time.RFC3339, unquoted); err == nil {
			return domain.Instant(instant), nil
		}
		text = unquoted
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(earliest <= seconds && seconds <= latest) { // also not a number
		return nil, errShape
	}
	whole, fraction := math.Modf(seconds)
	instant := time.Unix(int64(whole), int64(fraction*float64(time.Second)))
	return domain.Instant(instant.Round(time.Microsecond)), nil // a float64 has no digit to lose below
}

// readID reads an identifier: a string that is not empty, or a number.
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

// parseObject reads a whole document that is an object. It must be UTF-8: decoding would replace other bytes, and make
// two ids one.
func parseObject(document []byte) (object, error) {
	var parsed object
	if !utf8.Valid(document) || json.Unmarshal(document, &parsed) != nil || parsed == nil {
		return nil, errShape
	}
	return parsed, nil
}
