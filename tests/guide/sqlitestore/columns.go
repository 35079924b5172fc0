package sqlitestore

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
)

// encode is a value as a column of the application keeps it: booleans as 0 and 1, instants as texts like
// 2024-02-29T12:00:00.000000Z, JSON as text, numbers as what a float64 holds. It is not ok where the column would not give
// the value back.
func encode(column domain.Column, value any) (stored any, ok bool) {
	is := func(types ...domain.ColumnType) bool { return slices.Contains(types, column.Type) }
	switch value := value.(type) {
	case string:
		fits := column.Length == 0 || utf8.RuneCountInString(value) <= column.Length
		return value, fits && is(domain.TypeText, domain.TypeUUID)
	case int64:
		if is(domain.TypeNumber) {
			return encode(column, domain.Number(strconv.FormatInt(value, 10)))
		}
		return value, is(domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt)
	case float64:
		return value, is(domain.TypeNumber) && !math.IsNaN(value) && !math.IsInf(value, 0)
	case domain.Number:
		float, err := strconv.ParseFloat(string(value), 64)
		return float, is(domain.TypeNumber) && err == nil && sameNumber(string(value), strconv.FormatFloat(float, 'g', -1, 64))
	case bool:
		return value, is(domain.TypeBoolean)
	case time.Time:
		return stamp(value), is(domain.TypeTime)
	case domain.JSON:
		return string(value), is(domain.TypeJSON, domain.TypeArray)
	case []byte:
		return value, is(domain.TypeBytes) && value != nil
	default:
		return nil, false
	}
}

func sameNumber(a, b string) bool {
	x, known := new(big.Rat).SetString(a)
	y, finite := new(big.Rat).SetString(b)
	return known && finite && x.Cmp(y) == 0
}

// decode is what a column of the application keeps, as an export has it. SQLite keeps anything in any column: what is not
// of the column's type is exported as what it is.
func decode(column domain.Column, stored any) any {
	if raw, ok := stored.([]byte); ok && column.Type != domain.TypeBytes {
		stored = string(raw)
	}
	switch column.Type { //nolint:exhaustive // the others are kept as they are exported
	case domain.TypeBoolean:
		if n, ok := stored.(int64); ok && (n == 0 || n == 1) {
			return n == 1
		}
	case domain.TypeTime:
		if text, ok := stored.(string); ok {
			for _, form := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", time.DateTime, time.DateOnly} {
				if t, err := time.Parse(form, text); err == nil {
					return domain.Instant(t)
				}
			}
		}
	case domain.TypeJSON, domain.TypeArray:
		if text, ok := stored.(string); ok && json.Valid([]byte(text)) {
			return domain.JSON(text)
		}
	case domain.TypeBytes:
		if raw, ok := stored.([]byte); ok {
			return append([]byte{}, raw...)
		}
	}
	switch stored := stored.(type) {
	case time.Time: // which the driver makes of some columns
		return domain.Instant(stored)
	case float64:
		if math.IsInf(stored, 0) {
			return domain.Number(strconv.FormatFloat(stored, 'g', -1, 64))
		}
	}
	return stored
}
