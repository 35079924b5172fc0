// Package sqltype maps declared SQL types to column types of a data map.
package sqltype

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

var pattern = regexp.MustCompile(
	`^(?:[a-z0-9_]+\.)?([a-z0-9_ ]+?) *(?:\( *(\d+) *(?:, *-?\d+ *)?\))?(?: with(?:out)? time zone)?$`,
)

var types = map[string]domain.ColumnType{
	"text": domain.TypeText, "varchar": domain.TypeText, "character varying": domain.TypeText,
	"char": domain.TypeText, "character": domain.TypeText, "bpchar": domain.TypeText, "citext": domain.TypeText,
	"smallint": domain.TypeSmallInt, "int2": domain.TypeSmallInt, "smallserial": domain.TypeSmallInt,
	"integer": domain.TypeInteger, "int": domain.TypeInteger, "int4": domain.TypeInteger, "serial": domain.TypeInteger,
	"bigint": domain.TypeBigInt, "int8": domain.TypeBigInt, "bigserial": domain.TypeBigInt,
	"numeric": domain.TypeNumber, "decimal": domain.TypeNumber, "real": domain.TypeNumber,
	"double precision": domain.TypeNumber, "float": domain.TypeNumber,
	"float4": domain.TypeNumber, "float8": domain.TypeNumber,
	"boolean": domain.TypeBoolean, "bool": domain.TypeBoolean,
	"timestamp": domain.TypeTime, "timestamptz": domain.TypeTime, "date": domain.TypeTime, "datetime": domain.TypeTime,
	"uuid": domain.TypeUUID,
	"json": domain.TypeJSON, "jsonb": domain.TypeJSON,
	"bytea": domain.TypeBytes, "blob": domain.TypeBytes,
}

// Parse returns the column type for a declared SQL type, and the maximum length of a text of limited length. The
// declared type may have the name of a schema before it. The column type is empty if the declared type is unknown, for
// example an enumeration.
func Parse(declared string) (domain.ColumnType, int) {
	declared = strings.ToLower(strings.TrimSpace(declared))
	if strings.HasSuffix(declared, "[]") {
		return domain.TypeArray, 0
	}
	match := pattern.FindStringSubmatch(declared)
	if match == nil {
		return "", 0
	}
	t := types[match[1]]
	if t != domain.TypeText {
		return t, 0
	}
	length, _ := strconv.Atoi(match[2]) // without a number, there is no limit
	if length == 0 && (match[1] == "char" || match[1] == "character") {
		length = 1
	}
	return t, length
}
