package bunmodels

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain/datamap"
)

// columnType returns the type of the column that a field maps to, and the maximum length of a text, or 0. The type is
// "" if habeas does not know which surrogates the field can read.
//
// The third result is a surrogate that the field can read, or "" if the field can read the default surrogate of the
// column type.
func columnType(field *schema.Field) (t datamap.ColumnType, length int, surrogate string) {
	if slices.ContainsFunc(encodings, field.Tag.HasOption) {
		return "", 0, ""
	}
	if field.Tag.HasOption("array") {
		return datamap.TypeArray, 0, ""
	}
	if address, ok := addresses[field.IndirectType]; ok {
		return datamap.TypeText, 0, address
	}
	t = goType(field.IndirectType)
	if tag, ok := field.Tag.Option("type"); ok {
		var declared datamap.ColumnType
		declared, length = sqltype.Parse(tag)
		t = readableType(t, declared)
	}
	if t == datamap.TypeJSON && field.IndirectType.Kind() == reflect.Slice &&
		field.IndirectType.Elem().Kind() != reflect.Uint8 {
		surrogate = "[]"
	}
	return t, length, surrogate
}

// readableType chooses between the declared type of a column and the column type t that the Go type suggests. It
// returns a type whose default surrogate the Go field can read, or "" if it knows no such type.
func readableType(t, declared datamap.ColumnType) datamap.ColumnType {
	switch declared { //nolint:exhaustive // every field can read the surrogates of the other types
	case datamap.TypeText:
		if t == datamap.TypeBytes {
			return declared
		}
		return t // the column holds the value as text
	case datamap.TypeJSON, datamap.TypeBytes:
		if t != declared && t != datamap.TypeText && t != datamap.TypeBytes {
			return ""
		}
	}
	return declared
}

// encodings are the options of a bun tag with which bun encodes the value in a special way. The column type then
// follows neither from the Go type nor from the declared type.
var encodings = []string{"msgpack", "hstore", "composite", "multirange"}

// addresses maps Go types for network addresses to the surrogate that overwrites an erased value. The surrogate is
// valid in a column of the type inet, cidr or text.
var addresses = map[reflect.Type]string{
	reflect.TypeFor[net.IP]():       "0.0.0.0",
	reflect.TypeFor[netip.Addr]():   "0.0.0.0",
	reflect.TypeFor[net.IPNet]():    "0.0.0.0/0",
	reflect.TypeFor[netip.Prefix](): "0.0.0.0/0",
}

// codecs are the interfaces with which a Go type encodes or decodes its own values. The column type of such a Go type
// is unknown, unless wellKnown contains the Go type.
var codecs = []reflect.Type{
	reflect.TypeFor[driver.Valuer](), reflect.TypeFor[sql.Scanner](), reflect.TypeFor[schema.QueryAppender](),
	reflect.TypeFor[encoding.TextUnmarshaler](), reflect.TypeFor[json.Unmarshaler](),
}

// wellKnown maps Go types that encode their own values to the column types of these values.
var wellKnown = map[reflect.Type]datamap.ColumnType{
	reflect.TypeFor[time.Time]():       datamap.TypeTime,
	reflect.TypeFor[bun.NullTime]():    datamap.TypeTime,
	reflect.TypeFor[sql.NullTime]():    datamap.TypeTime,
	reflect.TypeFor[sql.NullString]():  datamap.TypeText,
	reflect.TypeFor[sql.NullBool]():    datamap.TypeBoolean,
	reflect.TypeFor[sql.NullByte]():    datamap.TypeSmallInt,
	reflect.TypeFor[sql.NullInt16]():   datamap.TypeSmallInt,
	reflect.TypeFor[sql.NullInt32]():   datamap.TypeInteger,
	reflect.TypeFor[sql.NullInt64]():   datamap.TypeBigInt,
	reflect.TypeFor[sql.NullFloat64](): datamap.TypeNumber,
	reflect.TypeFor[json.RawMessage](): datamap.TypeJSON,
	reflect.TypeFor[json.Number]():     datamap.TypeNumber,
}

// goType returns the column type that a Go type suggests, or "" if the column type is unknown. It does not use a
// declared SQL type.
func goType(t reflect.Type) datamap.ColumnType {
	if known, ok := wellKnown[t]; ok {
		return known
	}
	if isUUID(t) {
		return datamap.TypeUUID
	}
	if slices.ContainsFunc(codecs, reflect.PointerTo(t).Implements) {
		return ""
	}
	switch t.Kind() { //nolint:exhaustive // the other kinds are unknown
	case reflect.String:
		return datamap.TypeText
	case reflect.Bool:
		return datamap.TypeBoolean
	case reflect.Int8, reflect.Int16, reflect.Uint8:
		return datamap.TypeSmallInt
	case reflect.Int32, reflect.Uint16:
		return datamap.TypeInteger
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return datamap.TypeBigInt
	case reflect.Float32, reflect.Float64:
		return datamap.TypeNumber
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return datamap.TypeBytes
		}
		return datamap.TypeJSON
	case reflect.Map, reflect.Struct:
		return datamap.TypeJSON
	default:
		return ""
	}
}

// isUUID reports whether t is a UUID type of any package: an array of 16 bytes whose zero value has the text form of a
// UUID. The size alone is not enough, because other identifiers, such as ULIDs, also have 16 bytes.
func isUUID(t reflect.Type) bool {
	if t.Kind() != reflect.Array || t.Len() != 16 || t.Elem().Kind() != reflect.Uint8 {
		return false
	}
	zero, ok := reflect.Zero(t).Interface().(interface{ String() string })
	return ok && zero.String() == "00000000-0000-0000-0000-000000000000"
}
