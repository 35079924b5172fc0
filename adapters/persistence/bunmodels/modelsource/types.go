package modelsource

import (
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// usual maps the declared type of a column to a Go type. For a field of this Go type, bun assumes the declared type, so
// the field needs no type option in its tag.
var usual = map[string]string{
	"text": "string", "varchar": "string", "character varying": "string",
	"bigint": "int64", "int8": "int64", "integer": "int32", "int": "int32", "int4": "int32", "smallint": "int16",
	"int2": "int16", "double precision": "float64", "float8": "float64", "boolean": "bool", "bool": "bool",
	"timestamp with time zone": "time.Time", "timestamptz": "time.Time", "bytea": "[]byte", "blob": "[]byte",
}

// exact are the declared types of numbers that a float64 cannot represent exactly.
var exact = []string{"numeric", "decimal", "money"}

// typeOf returns the Go type of a column, and the type option of its bun tag if it needs one.
func (f *file) typeOf(c domain.CatalogColumn) (goType, sqlType string) {
	switch c.Type {
	case domain.TypeSmallInt:
		goType = "int16"
	case domain.TypeInteger:
		goType = "int32"
	case domain.TypeBigInt:
		goType = "int64"
	case domain.TypeNumber:
		goType = "float64"
		for _, declared := range exact {
			if strings.HasPrefix(strings.ToLower(c.Declared), declared) {
				goType = "string" // a decimal number
			}
		}
	case domain.TypeBoolean:
		goType = "bool"
	case domain.TypeTime:
		goType = "time.Time"
		f.imports["time"] = true
	case domain.TypeJSON:
		goType = "json.RawMessage"
		f.imports["encoding/json"] = true
	case domain.TypeBytes:
		goType = "[]byte"
	case domain.TypeArray:
		return arrayType(c.Declared), "array,type:" + c.Declared
	case domain.TypeText, domain.TypeUUID:
		goType = "string"
	default:
		goType = "string"
	}
	base, _, _ := strings.Cut(strings.ToLower(c.Declared), "(")
	if usual[strings.TrimSpace(base)] != goType || c.Type == domain.TypeText && c.Length > 0 {
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

// needsSurrogate reports whether bunmodels would require a surrogate if it knew the declared type.
func needsSurrogate(c domain.Column, live domain.CatalogColumn) bool {
	return c.Personal != nil && c.Surrogate == "" && c.Personal.Strategy != domain.StrategyNull &&
		(live.Type == "" || len(live.Values) > 0)
}

// arrayType returns the Go type of an array of PostgreSQL.
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
