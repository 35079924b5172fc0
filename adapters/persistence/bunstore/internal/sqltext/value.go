package sqltext

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Value converts a driver's value of a column to the value that an export shows. Drivers return different Go types, so
// each column type accepts all of them. If a value does not fit its column type, the export shows its text.
func Value(dialect Dialect, t domain.ColumnType, value any) any {
	if value == nil {
		return nil
	}
	value = dialect.read(t, value)
	switch t { //nolint:exhaustive // texts and UUIDs remain
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
		switch { // JSON has no such numbers: the export shows texts as PostgreSQL writes them
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

// timeFormats are the formats in which bun and SQLite write instants and dates as text, and the formats of PostgreSQL's
// JSON. The latter include local times, and offsets with seconds from before there were time zones.
var timeFormats = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05", time.DateOnly,
	"2006-01-02T15:04:05", "2006-01-02T15:04:05-07:00:00",
}

func asTime(value any) any {
	if t, ok := value.(time.Time); ok {
		if year := t.UTC().Year(); year < 0 || year > 9999 { // RFC 3339 has no such years, PostgreSQL does
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

// Text converts a driver's value to text.
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

// JSON encodes a value that is stored as JSON.
func JSON(op string, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", &domain.Error{Op: op, Message: "a value cannot be stored as JSON", Err: err}
	}
	return string(text), nil
}

// Instant is a point in time that scans the values of either database. It implements sql.Scanner.
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
		return fmt.Errorf("an instant must be a time or a text, not a %T", value)
	}
}
