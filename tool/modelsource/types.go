package modelsource

import (
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// assumed maps declared types of columns to Go types. For a field of this Go type, bun assumes the declared type, so
// the bun tag of the field needs no option "type".
var assumed = map[string]string{
	"text": "string", "varchar": "string", "character varying": "string",
	"bigint": "int64", "int8": "int64", "integer": "int32", "int": "int32", "int4": "int32", "smallint": "int16",
	"int2": "int16", "double precision": "float64", "float8": "float64", "boolean": "bool", "bool": "bool",
	"timestamp with time zone": "time.Time", "timestamptz": "time.Time", "bytea": "[]byte", "blob": "[]byte",
}

// decimals are the declared types whose numbers a float64 cannot represent exactly.
var decimals = []string{"numeric", "decimal", "money"}

// typeOf returns the Go type for a column. If the bun tag of the field needs the option "type", typeOf also returns
// this option.
func (f *file) typeOf(c datamap.CatalogColumn) (goType, sqlType string) {
	switch c.Type {
	case datamap.TypeSmallInt:
		goType = "int16"
	case datamap.TypeInteger:
		goType = "int32"
	case datamap.TypeBigInt:
		goType = "int64"
	case datamap.TypeNumber:
		goType = "float64"
		for _, declared := range decimals {
			if strings.HasPrefix(strings.ToLower(c.Declared), declared) {
				goType = "string" // a decimal number
			}
		}
	case datamap.TypeBoolean:
		goType = "bool"
	case datamap.TypeTime:
		goType = "time.Time"
		f.imports["time"] = true
	case datamap.TypeJSON:
		goType = "json.RawMessage"
		f.imports["encoding/json"] = true
	case datamap.TypeBytes:
		goType = "[]byte"
	case datamap.TypeArray:
		return arrayType(c.Declared), "array,type:" + c.Declared
	case datamap.TypeText, datamap.TypeUUID:
		goType = "string"
	default:
		goType = "string"
	}
	base, _, _ := strings.Cut(strings.ToLower(c.Declared), "(")
	if assumed[strings.TrimSpace(base)] != goType || c.Type == datamap.TypeText && c.Length > 0 {
		sqlType = "type:" + c.Declared
	}
	if c.Declared == "" || strings.ContainsAny(c.Declared, "\"'`:=\\") {
		sqlType = ""
	}
	if c.Nullable && goType != "[]byte" && goType != "json.RawMessage" {
		goType = "*" + goType
	}
	return goType, sqlType
}

// needsSurrogate reports whether a column lacks a surrogate constant although its SQL type has no default surrogate.
// Package bunmodels would refuse a field that declares this SQL type.
func needsSurrogate(c datamap.Column, live datamap.CatalogColumn) bool {
	return c.Personal != nil && c.Surrogate == "" && c.Personal.Strategy != domain.StrategyNull &&
		(live.Type == "" || len(live.Values) > 0)
}

// arrayType returns the Go type for a PostgreSQL array.
func arrayType(declared string) string {
	switch base, _, _ := strings.Cut(strings.ToLower(declared), "["); base {
	case "bigint", "integer", "smallint":
		return "[]int64"
	case "boolean":
		return "[]bool"
	case "double precision", "real":
		return "[]float64"
	default:
		return "[]string"
	}
}
