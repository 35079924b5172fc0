package bunstore

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"net"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
)

// columnType says what a field's column holds: its type, the length of a limited text, and the surrogate where the
// type's own would not do. The type is empty where nothing is known that would be safe to write.
func columnType(field *schema.Field) (t domain.ColumnType, length int, surrogate string) {
	if field.Tag.HasOption("array") {
		return domain.TypeArray, 0, ""
	}
	if field.IndirectType == reflect.TypeFor[net.IP]() {
		return domain.TypeText, 0, "0.0.0.0"
	}
	t = goType(field.IndirectType)
	if tag, ok := field.Tag.Option("type"); ok {
		declared, limit := sqlType(tag)
		// A type that encodes its own values cannot read just any text; a number, a boolean or a time it can.
		if t == "" && (declared == domain.TypeText || declared == domain.TypeJSON || declared == domain.TypeBytes) {
			declared = ""
		}
		t, length = declared, limit
	}
	if t == domain.TypeJSON && isList(field.IndirectType) {
		surrogate = "[]"
	}
	return t, length, surrogate
}

// codecs are the interfaces by which a type encodes its own values, or decodes them.
var codecs = []reflect.Type{
	reflect.TypeFor[driver.Valuer](), reflect.TypeFor[sql.Scanner](),
	reflect.TypeFor[encoding.TextUnmarshaler](), reflect.TypeFor[json.Unmarshaler](),
}

// wellKnown are types that encode their own values, but in a way that is known.
var wellKnown = map[reflect.Type]domain.ColumnType{
	reflect.TypeFor[time.Time]():       domain.TypeTime,
	reflect.TypeFor[bun.NullTime]():    domain.TypeTime,
	reflect.TypeFor[sql.NullTime]():    domain.TypeTime,
	reflect.TypeFor[sql.NullString]():  domain.TypeText,
	reflect.TypeFor[sql.NullBool]():    domain.TypeBoolean,
	reflect.TypeFor[sql.NullByte]():    domain.TypeSmallInt,
	reflect.TypeFor[sql.NullInt16]():   domain.TypeSmallInt,
	reflect.TypeFor[sql.NullInt32]():   domain.TypeInteger,
	reflect.TypeFor[sql.NullInt64]():   domain.TypeBigInt,
	reflect.TypeFor[sql.NullFloat64](): domain.TypeNumber,
	reflect.TypeFor[json.RawMessage](): domain.TypeJSON,
	reflect.TypeFor[json.Number]():     domain.TypeNumber,
}

// goType is the column type of a Go type without regard to a declared SQL type, or empty.
func goType(t reflect.Type) domain.ColumnType {
	if known, ok := wellKnown[t]; ok {
		return known
	}
	if t.Kind() == reflect.Array && t.Len() == 16 && t.Elem().Kind() == reflect.Uint8 {
		return domain.TypeUUID
	}
	if slices.ContainsFunc(codecs, reflect.PointerTo(t).Implements) {
		return ""
	}
	switch t.Kind() { //nolint:exhaustive // the others are unknown
	case reflect.String:
		return domain.TypeText
	case reflect.Bool:
		return domain.TypeBoolean
	case reflect.Int8, reflect.Int16, reflect.Uint8:
		return domain.TypeSmallInt
	case reflect.Int32, reflect.Uint16:
		return domain.TypeInteger
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return domain.TypeBigInt
	case reflect.Float32, reflect.Float64:
		return domain.TypeNumber
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return domain.TypeBytes
		}
		return domain.TypeJSON
	case reflect.Map, reflect.Struct, reflect.Array:
		return domain.TypeJSON
	default:
		return ""
	}
}

func isList(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() != reflect.Uint8
}

var sqlTypePattern = regexp.MustCompile(`^([a-z0-9_ ]+?) *(?:\( *(\d+) *(?:, *\d+ *)?\))?( with(?:out)? time zone)?(\[\])*$`)

var sqlTypes = map[string]domain.ColumnType{
	"text": domain.TypeText, "varchar": domain.TypeText, "character varying": domain.TypeText,
	"char": domain.TypeText, "character": domain.TypeText, "bpchar": domain.TypeText, "citext": domain.TypeText,
	"smallint": domain.TypeSmallInt, "int2": domain.TypeSmallInt, "smallserial": domain.TypeSmallInt,
	"integer": domain.TypeInteger, "int": domain.TypeInteger, "int4": domain.TypeInteger, "serial": domain.TypeInteger,
	"bigint": domain.TypeBigInt, "int8": domain.TypeBigInt, "bigserial": domain.TypeBigInt,
	"numeric": domain.TypeNumber, "decimal": domain.TypeNumber, "real": domain.TypeNumber,
	"double precision": domain.TypeNumber, "float4": domain.TypeNumber, "float8": domain.TypeNumber, "float": domain.TypeNumber,
	"boolean": domain.TypeBoolean, "bool": domain.TypeBoolean,
	"timestamp": domain.TypeTime, "timestamptz": domain.TypeTime, "date": domain.TypeTime, "datetime": domain.TypeTime,
	"uuid": domain.TypeUUID,
	"json": domain.TypeJSON, "jsonb": domain.TypeJSON,
	"bytea": domain.TypeBytes, "blob": domain.TypeBytes,
}

// sqlType is the column type of a declared SQL type, and the length of a limited text; empty for a type that is not
// known, such as an enumeration.
func sqlType(declared string) (domain.ColumnType, int) {
	match := sqlTypePattern.FindStringSubmatch(strings.ToLower(strings.TrimSpace(declared)))
	if match == nil {
		return "", 0
	}
	if match[4] != "" {
		return domain.TypeArray, 0
	}
	t := sqlTypes[match[1]]
	if t != domain.TypeText {
		return t, 0
	}
	length, _ := strconv.Atoi(match[2]) // none means no limit
	if length == 0 && (match[1] == "char" || match[1] == "character") {
		length = 1
	}
	return t, length
}
