package rectification

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// exactFloat is the bound up to which a float64 represents every integer exactly.
const exactFloat = 1 << 53

// canonicalValue converts the value of a correction to a string, bool, int64, float64, domain.Number, time.Time, []byte
// or domain.JSON. Each of these types can be encoded as JSON. The result shares no memory with the correction.
func canonicalValue(value any) (any, *domain.FieldError) {
	switch value := value.(type) {
	case nil:
		return nil, fault(domain.FieldRequired, "must not be null")
	case string:
		if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
			return nil, fault(domain.FieldCharacter, "must be valid UTF-8 without NUL")
		}
		return value, nil
	case bool, int64:
		return value, nil
	case int, int8, int16, int32:
		return reflect.ValueOf(value).Int(), nil
	case uint, uint8, uint16, uint32, uint64:
		return canonicalUint(reflect.ValueOf(value).Uint()), nil
	case float32:
		return canonicalFloat(float64(value))
	case float64:
		return canonicalFloat(value)
	case domain.Number:
		if !value.Storable() {
			return nil, wrongType("must be a number")
		}
		return value, nil
	case json.Number:
		number := domain.Number(value)
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && number.Storable() {
			return n, nil
		}
		return canonicalValue(number)
	case time.Time:
		return canonicalTime(value)
	case []byte:
		if value == nil {
			return nil, fault(domain.FieldRequired, "must not be null")
		}
		return append([]byte{}, value...), nil
	case domain.JSON:
		if !value.Storable() {
			return nil, wrongType("must be valid JSON")
		}
		return value, nil
	default:
		return nil, wrongType("must be text, a number, a boolean, a time, bytes or JSON")
	}
}

func canonicalUint(n uint64) any {
	if n > math.MaxInt64 {
		return domain.Number(strconv.FormatUint(n, 10))
	}
	return int64(n)
}

func canonicalFloat(f float64) (any, *domain.FieldError) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, wrongType("must be a finite number")
	}
	return f, nil
}

func canonicalTime(t time.Time) (any, *domain.FieldError) {
	t = domain.Instant(t)
	if t.Year() < 1 || t.Year() > 9999 {
		return nil, wrongType("must be a time of the years 1 to 9999")
	}
	return t, nil
}

// fit converts a value that canonicalValue returned to the Go type for the type of the column. If the value does not
// fit the column, fit returns a field error.
func fit(column datamap.Column, value any) (any, *domain.FieldError) {
	switch column.Type {
	case datamap.TypeText:
		return fitText(value, column.Length)
	case datamap.TypeSmallInt:
		return fitInteger(value, 16)
	case datamap.TypeInteger:
		return fitInteger(value, 32)
	case datamap.TypeBigInt:
		return fitInteger(value, 64)
	case datamap.TypeNumber:
		switch value.(type) {
		case int64, float64, domain.Number:
			return value, nil
		}
		return nil, wrongType("must be a number")
	case datamap.TypeBoolean:
		return fitType[bool](value, "must be a boolean")
	case datamap.TypeTime:
		if t, ok := timeValue(value); ok {
			return canonicalTime(t)
		}
		return nil, wrongType(`must be a time like "2024-02-29T12:00:00Z" or a date like "2024-02-29"`)
	case datamap.TypeUUID:
		if text, ok := value.(string); ok && datamap.IsUUID(text) {
			return text, nil
		}
		return nil, wrongType("must be a UUID in lower case")
	case datamap.TypeJSON:
		return fitType[domain.JSON](value, "must be JSON")
	case datamap.TypeBytes:
		if raw, ok := value.([]byte); ok {
			return bytes.Clone(raw), nil
		}
		return nil, wrongType("must be bytes")
	case datamap.TypeArray:
	}
	return nil, wrongType("cannot be corrected, because the column is an array")
}

// fitType returns the value unchanged if it has the type T. Otherwise it returns an error with the message.
func fitType[T any](value any, message string) (any, *domain.FieldError) {
	if _, ok := value.(T); !ok {
		return nil, wrongType(message)
	}
	return value, nil
}

func fitText(value any, length int) (any, *domain.FieldError) {
	text, ok := value.(string)
	switch {
	case !ok:
		return nil, wrongType("must be text")
	case length > 0 && utf8.RuneCountInString(text) > length:
		return nil, fault(domain.FieldTooLong, "must have at most "+strconv.Itoa(length)+" characters")
	}
	return text, nil
}

func fitInteger(value any, bits int) (any, *domain.FieldError) {
	n, whole := value.(int64)
	if f, ok := value.(float64); ok && f == math.Trunc(f) && math.Abs(f) <= exactFloat {
		n, whole = int64(f), true
	}
	if !whole || n>>(bits-1) != n>>63 {
		return nil, wrongType("must be a whole number of " + strconv.Itoa(bits) + " bits")
	}
	return n, nil
}

func timeValue(value any) (time.Time, bool) {
	switch value := value.(type) {
	case time.Time:
		return value, true
	case string:
		for _, format := range []string{time.RFC3339, time.DateOnly} {
			if t, err := time.Parse(format, value); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

func wrongType(message string) *domain.FieldError { return fault(domain.FieldType, message) }

// fault returns an error without a Field. The caller sets the Field.
func fault(code, message string) *domain.FieldError {
	return &domain.FieldError{Code: code, Message: message}
}
