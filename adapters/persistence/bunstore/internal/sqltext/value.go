package sqltext

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Value turns what a driver returned for a column into the value that an export shows. Drivers differ in what
// they return, so each type takes every form it may come in; a form that does not fit is exported as it is.
func Value(dialect Dialect, t domain.ColumnType, value any) any {
	if value == nil {
		return nil
	}
	value = dialect.read(t, value)
	switch t { //nolint:exhaustive // texts and UUIDs are left
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt:
		if n, err := strconv.ParseInt(Text(value), 10, 64); err == nil {
			return n
		}
	case domain.TypeNumber:
		return asNumber(value)
	case domain.TypeBoolean:
		return asBoolean(value)
	case domain.TypeTime:
		return asTime(value)
	case domain.TypeJSON, domain.TypeArray:
		if text := Text(value); json.Valid([]byte(text)) {
			return domain.JSON(text)
		}
	case domain.TypeBytes:
		return []byte(Text(value))
	}
	return Text(value)
}

func asNumber(value any) any {
	switch value := value.(type) {
	case int64:
		return value
	case float64:
		switch { // JSON has no number for these: they are texts, as PostgreSQL writes them
		case math.IsInf(value, 1):
			return domain.Number("Infinity")
		case math.IsInf(value, -1):
			return domain.Number("-Infinity")
		case !math.IsNaN(value):
			return value
		}
	}
	return domain.Number(Text(value))
}

func asBoolean(value any) any {
	switch value := value.(type) {
	case bool:
		return value
	case int64:
		return value != 0
	}
	text := Text(value)
	if b, err := strconv.ParseBool(text); err == nil {
		return b
	}
	return text
}

// timeFormats are those in which bun and SQLite write instants and dates as text, and those of PostgreSQL's JSON: local
// times, and offsets from before there were time zones.
var timeFormats = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05", time.DateOnly,
	"2006-01-02T15:04:05", "2006-01-02T15:04:05-07:00:00",
}

func asTime(value any) any {
	if t, ok := value.(time.Time); ok {
		if year := t.UTC().Year(); year < 0 || year > 9999 { // which RFC 3339 cannot say, and PostgreSQL can
			return Text(value)
		}
		return domain.Instant(t)
	}
	text := Text(value)
	for _, format := range timeFormats {
		if t, err := time.Parse(format, text); err == nil {
			return domain.Instant(t)
		}
	}
	return Text(value)
}

// Text is a value that a driver returned as a text.
func Text(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []byte:
		return string(value)
	case time.Time:
		return value.UTC().Format(time.RFC3339Nano)
	default:
		return fmt.Sprint(value)
	}
}

// JSON encodes what is stored as JSON.
func JSON(op string, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", &domain.Error{Op: op, Message: "a value cannot be stored as JSON", Err: err}
	}
	return string(text), nil
}

// Instant reads a point in time as either database returns it. It implements sql.Scanner.
type Instant time.Time

// Scan implements sql.Scanner.
func (i *Instant) Scan(value any) error {
	switch value := value.(type) {
	case time.Time:
		*i = Instant(value.UTC())
		return nil
	case string:
		t, err := time.Parse(instantFormat, value)
		*i = Instant(t)
		return err
	default:
		return fmt.Errorf("an instant cannot be a %T", value)
	}
}
