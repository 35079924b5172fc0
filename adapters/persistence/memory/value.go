package memory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// storable returns the value in the form in which the column stores it. See Row for the allowed types. ok is false if
// the value does not fit the column. The result shares no memory with the parameter.
func storable(column datamap.Column, value any) (stored any, ok bool) {
	holds := func(types ...datamap.ColumnType) bool {
		return column.Type == "" || slices.Contains(types, column.Type)
	}
	switch value := value.(type) {
	case nil:
		return nil, true
	case string:
		fits := column.Length == 0 || utf8.RuneCountInString(value) <= column.Length
		isLocal := localTime.MatchString(value) // a time without a zone
		return value, fits && (holds(datamap.TypeText, datamap.TypeUUID) || isLocal && holds(datamap.TypeTime))
	case int:
		return storable(column, int64(value))
	case int64:
		return value, holds(datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber)
	case float64:
		return value, !math.IsNaN(value) && !math.IsInf(value, 0) && holds(datamap.TypeNumber)
	case domain.Number:
		_, err := strconv.ParseFloat(string(value), 64)
		return value, err == nil && json.Valid([]byte(value)) && holds(datamap.TypeNumber)
	case bool:
		return value, holds(datamap.TypeBoolean)
	case time.Time:
		return domain.Instant(value), holds(datamap.TypeTime)
	case domain.JSON:
		return value, json.Valid([]byte(value)) && holds(datamap.TypeJSON, datamap.TypeArray)
	case []byte:
		return bytes.Clone(value), value != nil && holds(datamap.TypeBytes)
	default:
		return nil, false
	}
}

// localTime matches a date, and a date with a time of day, without a zone.
var localTime = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?)?$`)

// cloneRow returns a copy that shares no memory with the row.
func cloneRow(row Row) Row {
	row = maps.Clone(row)
	for column, value := range row {
		row[column] = cloneValue(value)
	}
	return row
}

// cloneValue returns a copy of the value if the value is a byte slice. All other values are immutable.
func cloneValue(value any) any {
	if raw, ok := value.([]byte); ok {
		return bytes.Clone(raw)
	}
	return value
}

// compare orders values of a column.
func compare(a, b any) int {
	switch a := a.(type) {
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b)
		}
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b)
		}
	case time.Time:
		if b, ok := b.(time.Time); ok {
			return a.Compare(b)
		}
	}
	return strings.Compare(textOf(a), textOf(b))
}

// textOf returns a stored value as text. Two different values of one column have different texts.
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(value)
	case time.Time:
		return value.Format(time.RFC3339Nano)
	case domain.Number:
		return string(value)
	case domain.JSON:
		return string(value)
	case []byte:
		return string(value)
	default:
		return ""
	}
}
