package sqltext

import (
	"strconv"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// anonymousText returns the expression for the default surrogate of a text column. The parameter hex is the expression
// for 32 hexadecimal digits.
func anonymousText(hex string, column datamap.Column) string {
	prefix, digits := column.Default()
	hex = firstDigits(hex, digits)
	if prefix == "" {
		return hex
	}
	return literal(prefix) + " || " + hex
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
	return "replace(CAST(" + constant + " AS text), " + literal(datamap.Placeholder) + ", " + firstDigits(hex, digits) +
		")"
}

// IsNulled reports whether an erasure sets the column to NULL.
func IsNulled(column datamap.Column) bool {
	return column.Personal != nil && column.Personal.Strategy == domain.StrategyNull
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
