package rows

import (
	"strconv"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Surrogate returns the expression for the value that overwrites a column: NULL or a constant if the data map says so,
// and otherwise the result of dialect.surrogate.
func (w *StepWriter) Surrogate(name string) string {
	column, _ := w.table.Column(name)
	constant, ok := column.Constant()
	switch digits := column.Digits(); {
	case column.IsNulled():
		return "NULL"
	case digits > 0:
		return fillPlaceholder(w.AddConstant(constant), w.writer.own.randomDigits(), digits)
	case ok:
		return w.AddConstant(constant)
	default:
		return w.writer.own.surrogate(column)
	}
}

// anonymousText returns the expression for the default surrogate of a text column. The parameter hex is the expression
// for 32 hexadecimal digits.
func anonymousText(hex string, column datamap.Column) string {
	prefix, digits := column.Default()
	hex = firstDigits(hex, digits)
	if prefix == "" {
		return hex
	}
	return syntax.Literal(prefix) + " || " + hex
}

func firstDigits(hex string, digits int) string {
	if digits == 32 {
		return hex
	}
	return "substr(" + hex + ", 1, " + strconv.Itoa(digits) + ")"
}

// fillPlaceholder returns the expression for a constant in which hexadecimal digits replace each datamap.Placeholder.
// Each placeholder gets the given number of digits. The parameter hex is the expression for 32 digits.
func fillPlaceholder(constant, hex string, digits int) string {
	return "replace(CAST(" + constant + " AS text), " + syntax.Literal(datamap.Placeholder) + ", " +
		firstDigits(hex, digits) + ")"
}

// commonSurrogate returns the surrogate of a column type for which both databases use the same constant.
func commonSurrogate(t datamap.ColumnType) string {
	switch t { //nolint:exhaustive // the dialects have separate surrogates for the other types
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber:
		return "0"
	case datamap.TypeBoolean:
		return "FALSE"
	case datamap.TypeTime:
		return "'1970-01-01 00:00:00+00:00'"
	case datamap.TypeJSON, datamap.TypeArray:
		return "'{}'"
	default:
		return "''"
	}
}

func (p postgres) surrogate(column datamap.Column) string {
	switch column.Type { //nolint:exhaustive // commonSurrogate handles the other types
	case datamap.TypeText:
		return anonymousText(p.randomDigits(), column)
	case datamap.TypeUUID:
		return "gen_random_uuid()"
	default:
		return commonSurrogate(column.Type)
	}
}

func (postgres) randomDigits() string { return "replace(CAST(gen_random_uuid() AS text), '-', '')" }

func (s sqlite) surrogate(column datamap.Column) string {
	switch column.Type { //nolint:exhaustive // commonSurrogate handles the other types
	case datamap.TypeText:
		return anonymousText(s.randomDigits(), column)
	case datamap.TypeUUID: // version 4 of RFC 9562
		return "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || " +
			"'-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
	case datamap.TypeBytes:
		return "x''"
	case datamap.TypeArray: // bun stores an array as JSON in SQLite
		return "'[]'"
	default:
		return commonSurrogate(column.Type)
	}
}

func (sqlite) randomDigits() string { return "lower(hex(randomblob(16)))" }
