// Package sqltype maps declared SQL types to column types of a data map.
package sqltype

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

var pattern = regexp.MustCompile(
	`^(?:[a-z0-9_]+\.)?([a-z0-9_ ]+?) *(?:\( *(\d+) *(?:, *-?\d+ *)?\))?(?: with(?:out)? time zone)?$`,
)

var types = map[string]datamap.ColumnType{
	"text": datamap.TypeText, "varchar": datamap.TypeText, "character varying": datamap.TypeText,
	"char": datamap.TypeText, "character": datamap.TypeText, "bpchar": datamap.TypeText, "citext": datamap.TypeText,
	"smallint": datamap.TypeSmallInt, "int2": datamap.TypeSmallInt, "smallserial": datamap.TypeSmallInt,
	"integer": datamap.TypeInteger, "int": datamap.TypeInteger, "int4": datamap.TypeInteger, "serial": datamap.TypeInteger,
	"bigint": datamap.TypeBigInt, "int8": datamap.TypeBigInt, "bigserial": datamap.TypeBigInt,
	"numeric": datamap.TypeNumber, "decimal": datamap.TypeNumber, "real": datamap.TypeNumber,
	"double precision": datamap.TypeNumber, "float": datamap.TypeNumber,
	"float4": datamap.TypeNumber, "float8": datamap.TypeNumber,
	"boolean": datamap.TypeBoolean, "bool": datamap.TypeBoolean,
	"timestamp": datamap.TypeTime, "timestamptz": datamap.TypeTime, "date": datamap.TypeTime, "datetime": datamap.TypeTime,
	"uuid": datamap.TypeUUID,
	"json": datamap.TypeJSON, "jsonb": datamap.TypeJSON,
	"bytea": datamap.TypeBytes, "blob": datamap.TypeBytes,
}

// Parse returns the column type for a declared SQL type, and the maximum length of a text of limited length. The
// declared type may have the name of a schema before it. The column type is empty if the declared type is unknown, for
// example an enumeration.
func Parse(declared string) (datamap.ColumnType, int) {
	declared = strings.ToLower(strings.TrimSpace(declared))
	if strings.HasSuffix(declared, "[]") {
		return datamap.TypeArray, 0
	}
	match := pattern.FindStringSubmatch(declared)
	if match == nil {
		return "", 0
	}
	t := types[match[1]]
	if t != datamap.TypeText {
		return t, 0
	}
	length, _ := strconv.Atoi(match[2]) // without a number, there is no limit
	if length == 0 && (match[1] == "char" || match[1] == "character") {
		length = 1
	}
	return t, length
}
