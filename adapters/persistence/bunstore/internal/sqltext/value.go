package sqltext

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Value converts a value that a driver returns for a column to the value that an export shows. Drivers return different
// Go types for a column type, so Value accepts all of them. If a value does not fit the column type, Value returns the
// text of the value.
func Value(dialect Dialect, t datamap.ColumnType, value any) any {
	if value == nil {
		return nil
	}
	value = dialect.fromExported(t, value)
	switch t { //nolint:exhaustive // the last return handles texts and UUIDs
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt:
		if n, err := strconv.ParseInt(Text(value), 10, 64); err == nil {
			return n
		}
	case datamap.TypeNumber:
		return asNumber(value)
	case datamap.TypeBoolean:
		return asBoolean(value)
	case datamap.TypeTime:
		return asTime(value)
	case datamap.TypeJSON, datamap.TypeArray:
		if text := Text(value); json.Valid([]byte(text)) {
			return domain.JSON(text)
		}
	case datamap.TypeBytes:
		return []byte(Text(value))
	}
	return Text(value)
}

func asNumber(value any) any {
	switch value := value.(type) {
	case int64:
		return value
	case float64:
		switch { // JSON has no infinity and no NaN: the export shows the texts that PostgreSQL writes
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
// JSON. PostgreSQL also writes local times without an offset. For instants before the introduction of time zones, it
// writes offsets with seconds.
var timeFormats = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05", time.DateOnly,
	"2006-01-02T15:04:05", "2006-01-02T15:04:05-07:00:00",
}

func asTime(value any) any {
	if t, ok := value.(time.Time); ok {
		if year := t.UTC().Year(); year < 0 || year > 9999 { // PostgreSQL has such years, but RFC 3339 does not
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

// Text returns the text form of a value from a driver.
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

// JSON encodes a value that a store keeps as JSON. The parameter op is the name of the operation in the error.
func JSON(op string, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", &domain.Error{Op: op, Message: "a value cannot be stored as JSON", Err: err}
	}
	return string(text), nil
}

// Instant is a point in time. It implements sql.Scanner for the values that the drivers of both databases return.
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
