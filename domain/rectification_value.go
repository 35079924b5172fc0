package domain

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// exactFloat bounds the whole numbers that a float64 holds exactly. Beyond, it stands for its neighbours as well.
const exactFloat = 1 << 53

// canonicalValue reduces what a correction may be to string, bool, int64, float64, Number, time.Time, []byte or JSON,
// all of which have a form in JSON, and shares no memory with it.
func canonicalValue(value any) (any, *FieldError) {
	switch value := value.(type) {
	case nil:
		return nil, &FieldError{"", FieldRequired, "must not be null"}
	case string:
		if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
			return nil, &FieldError{"", FieldCharacter, "must be valid UTF-8 without NUL"}
		}
		return value, nil
	case bool, int64:
		return value, nil
	case int:
		return int64(value), nil
	case int8:
		return int64(value), nil
	case int16:
		return int64(value), nil
	case int32:
		return int64(value), nil
	case uint:
		return canonicalUint(uint64(value)), nil
	case uint8:
		return int64(value), nil
	case uint16:
		return int64(value), nil
	case uint32:
		return int64(value), nil
	case uint64:
		return canonicalUint(value), nil
	case float32:
		return canonicalFloat(float64(value))
	case float64:
		return canonicalFloat(value)
	case Number:
		if !isStorableNumber(string(value)) {
			return nil, &FieldError{"", FieldType, "must be a number"}
		}
		return value, nil
	case time.Time:
		return canonicalTime(value)
	case []byte:
		if value == nil {
			return nil, &FieldError{"", FieldRequired, "must not be null"}
		}
		return append([]byte{}, value...), nil
	case JSON:
		if !isStorableJSON(string(value)) {
			return nil, &FieldError{"", FieldType, "must be valid JSON"}
		}
		return value, nil
	default:
		return nil, &FieldError{"", FieldType, "must be text, a number, a boolean, a time, bytes or JSON"}
	}
}

func canonicalUint(n uint64) any {
	if n > math.MaxInt64 {
		return Number(strconv.FormatUint(n, 10))
	}
	return int64(n)
}

func canonicalFloat(f float64) (any, *FieldError) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, &FieldError{"", FieldType, "must be a finite number"}
	}
	return f, nil
}

func canonicalTime(t time.Time) (any, *FieldError) {
	t = Instant(t)
	if t.Year() < 1 || t.Year() > 9999 {
		return nil, &FieldError{"", FieldType, "must be a time of the years 1 to 9999"}
	}
	return t, nil
}

// correct is a canonical value as the column takes it, or what is wrong with it.
func (c Column) correct(value any) (any, *FieldError) {
	message := "cannot be corrected, because it is held as a list" // TypeArray
	switch c.Type {
	case TypeText:
		if text, ok := value.(string); ok {
			if c.Length > 0 && utf8.RuneCountInString(text) > c.Length {
				return nil, &FieldError{"", FieldTooLong, "must have at most " + strconv.Itoa(c.Length) + " characters"}
			}
			return text, nil
		}
		message = "must be text"
	case TypeSmallInt, TypeInteger, TypeBigInt:
		bits := c.Type.bits()
		if n, ok := wholeNumber(value); ok && n>>(bits-1) == n>>63 {
			return n, nil
		}
		message = "must be a whole number of " + strconv.Itoa(bits) + " bits"
	case TypeNumber:
		switch value.(type) {
		case int64, float64, Number:
			return value, nil
		}
		message = "must be a number"
	case TypeBoolean:
		if _, ok := value.(bool); ok {
			return value, nil
		}
		message = "must be a boolean"
	case TypeTime:
		if t, ok := timeValue(value); ok {
			return canonicalTime(t)
		}
		message = `must be a time like "2024-02-29T12:00:00Z" or a date like "2024-02-29"`
	case TypeUUID:
		if text, ok := value.(string); ok && isCanonicalUUID(text) {
			return text, nil
		}
		message = "must be a UUID in lower case"
	case TypeJSON:
		if _, ok := value.(JSON); ok {
			return value, nil
		}
		message = "must be JSON"
	case TypeBytes:
		if raw, ok := value.([]byte); ok {
			return bytes.Clone(raw), nil
		}
		message = "must be bytes"
	case TypeArray:
	}
	return nil, &FieldError{"", FieldType, message}
}

func wholeNumber(value any) (int64, bool) {
	switch value := value.(type) {
	case int64:
		return value, true
	case float64:
		return int64(value), value == math.Trunc(value) && math.Abs(value) <= exactFloat
	default:
		return 0, false
	}
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
