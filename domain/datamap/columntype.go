package datamap

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ColumnType is the type of a column. It determines the form of exported values, the default surrogate (the value that
// an erasure writes), and the accepted values of a key column.
type ColumnType string

// The column types. SmallInt, Integer and BigInt are signed with 16, 32 and 64 bits.
const (
	TypeText     ColumnType = "text"
	TypeSmallInt ColumnType = "smallint"
	TypeInteger  ColumnType = "integer"
	TypeBigInt   ColumnType = "bigint"
	TypeNumber   ColumnType = "number" // floating point and decimal
	TypeBoolean  ColumnType = "boolean"
	TypeTime     ColumnType = "time" // an instant or a date
	TypeUUID     ColumnType = "uuid"
	TypeJSON     ColumnType = "json"
	TypeArray    ColumnType = "array" // a PostgreSQL array
	TypeBytes    ColumnType = "bytes"
)

// Valid reports whether t is one of the column types.
func (t ColumnType) Valid() bool { return slices.Contains(columnTypes(), t) }

func columnTypes() []ColumnType {
	return []ColumnType{
		TypeText, TypeSmallInt, TypeInteger, TypeBigInt, TypeNumber,
		TypeBoolean, TypeTime, TypeUUID, TypeJSON, TypeArray, TypeBytes,
	}
}

func keyTypes() []ColumnType {
	return slices.DeleteFunc(columnTypes(), func(t ColumnType) bool { return !t.canBeKey() })
}

// canBeKey reports whether the subject key may contain a column of the type. In the allowed types, each value has
// exactly one text form.
func (t ColumnType) canBeKey() bool { return t == TypeText || t == TypeUUID || t.bits() > 0 }

func (t ColumnType) bits() int {
	switch t { //nolint:exhaustive // the other types are not integers
	case TypeSmallInt:
		return 16
	case TypeInteger:
		return 32
	case TypeBigInt:
		return 64
	default:
		return 0
	}
}

// fitsKey reports whether an element of a subject id is a value of the key column. It accepts only one text form of
// each value: "7", not "007", and a UUID in lower case. The ledgers of consents and restrictions find a subject by this
// text. If they accepted a second text form, they would keep the records of one subject as two subjects.
func (c Column) fitsKey(element string) bool {
	if bits := c.Type.bits(); bits > 0 {
		n, err := strconv.ParseInt(element, 10, bits)
		return err == nil && strconv.FormatInt(n, 10) == element
	}
	if c.Type == TypeUUID {
		return IsUUID(element)
	}
	return c.Length == 0 || utf8.RuneCountInString(element) <= c.Length
}

// keyValue converts an element of a subject id into a value of the key column: int64 for integers, otherwise string.
// fitsKey must be true for the element.
func (c Column) keyValue(element string) any {
	if c.Type.bits() == 0 {
		return element
	}
	n, _ := strconv.ParseInt(element, 10, 64)
	return n
}

// IsUUID reports whether text is a UUID in its canonical form, which is in lower case.
func IsUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if text[i] != '-' {
				return false
			}
		} else if !strings.ContainsRune("0123456789abcdef", rune(text[i])) {
			return false
		}
	}
	return true
}
