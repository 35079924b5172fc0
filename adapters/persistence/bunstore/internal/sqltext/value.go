package sqltext

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// exportValue converts a value that a driver returns for a column to the value that an export shows. Drivers return different
// Go types for a column type, so exportValue accepts all of them. If a value does not fit the column type, exportValue returns the
// text of the value.
func exportValue(d subjectDialect, t domain.ColumnType, value any) any {
	if value == nil {
		return nil
	}
	value = d.fromExported(t, value)
	switch t { //nolint:exhaustive // the last return handles texts and UUIDs
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt:
		if n, err := strconv.ParseInt(syntax.Text(value), 10, 64); err == nil {
			return n
		}
	case domain.TypeNumber:
		return asNumber(value)
	case domain.TypeBoolean:
		return asBoolean(value)
	case domain.TypeTime:
		return asTime(value)
	case domain.TypeJSON, domain.TypeArray:
		if text := syntax.Text(value); json.Valid([]byte(text)) {
			return domain.JSON(text)
		}
	case domain.TypeBytes:
		return []byte(syntax.Text(value))
	}
	return syntax.Text(value)
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
	return domain.Number(syntax.Text(value))
}

func asBoolean(value any) any {
	switch value := value.(type) {
	case bool:
		return value
	case int64:
		return value != 0
	}
	text := syntax.Text(value)
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
			return syntax.Text(value)
		}
		return domain.Instant(t)
	}
	text := syntax.Text(value)
	for _, format := range timeFormats {
		if t, err := time.Parse(format, text); err == nil {
			return domain.Instant(t)
		}
	}
	return syntax.Text(value)
}
