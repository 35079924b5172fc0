package bunstore

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// exportValue turns what a driver returned for a column into the value that an export shows. Drivers differ in what
// they return, so each type takes every form it may come in; a form that does not fit is exported as it is.
func exportValue(dialect sqlDialect, t domain.ColumnType, value any) any {
	if value == nil {
		return nil
	}
	value = dialect.read(t, value)
	switch t { //nolint:exhaustive // texts and UUIDs are left
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt:
		if n, err := strconv.ParseInt(textOf(value), 10, 64); err == nil {
			return n
		}
	case domain.TypeNumber:
		return asNumber(value)
	case domain.TypeBoolean:
		return asBoolean(value)
	case domain.TypeTime:
		return asTime(value)
	case domain.TypeJSON, domain.TypeArray:
		if text := textOf(value); json.Valid([]byte(text)) {
			return domain.JSON(text)
		}
	case domain.TypeBytes:
		return []byte(textOf(value))
	}
	return textOf(value)
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
	return domain.Number(textOf(value))
}

func asBoolean(value any) any {
	switch value := value.(type) {
	case bool:
		return value
	case int64:
		return value != 0
	}
	text := textOf(value)
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
			return textOf(value)
		}
		return domain.Instant(t)
	}
	text := textOf(value)
	for _, format := range timeFormats {
		if t, err := time.Parse(format, text); err == nil {
			return domain.Instant(t)
		}
	}
	return textOf(value)
}

func textOf(value any) string {
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
