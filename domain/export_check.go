package domain

import (
	"math"
	"time"
	"unicode/utf8"
)

// Valid reports whether a bundle can hold the record. A valid record has a field, and all its texts are valid UTF-8.
// Its category is known or empty, and its legal basis is known or nil. Its value and its instants can be encoded as
// JSON. A bundle with an invalid record could not be encoded or read.
func (r ExportRecord) Valid() bool {
	for _, text := range []*string{&r.Source, &r.Field, &r.Row, r.Purpose, r.RetentionReason} {
		if text != nil && !utf8.ValidString(*text) {
			return false
		}
	}
	return r.Field != "" &&
		(r.Category == "" || r.Category.Valid()) &&
		(r.LegalBasis == nil || r.LegalBasis.Valid()) &&
		(r.ExpiresAt == nil || isEncodable(*r.ExpiresAt)) &&
		isExportable(r.Value)
}

// isExportable reports whether value has a type that ExportRecord lists, and can be encoded as JSON.
func isExportable(value any) bool {
	switch value := value.(type) {
	case nil, bool, []byte, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return true
	case string:
		return utf8.ValidString(value)
	case float64:
		return !math.IsNaN(value) && !math.IsInf(value, 0)
	case Number:
		return value.isJSON() || value == "NaN" || value == "Infinity" || value == "-Infinity"
	case JSON:
		return isJSON(string(value), maxExportedDepth)
	case time.Time:
		return isEncodable(value)
	default:
		return false
	}
}

// isEncodable reports whether RFC 3339 can represent t: the year has four digits, and the offset is less than a day.
func isEncodable(t time.Time) bool {
	_, err := t.MarshalJSON()
	return err == nil
}
