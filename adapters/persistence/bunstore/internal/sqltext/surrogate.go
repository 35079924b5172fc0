package sqltext

import (
	"strconv"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// anonymousText returns the expression for the default surrogate of a text column. The parameter hex is the expression
// for 32 hexadecimal digits.
func anonymousText(hex string, column domain.Column) string {
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

// fillPlaceholder returns the expression for a constant in which hexadecimal digits replace each domain.Placeholder.
// Each placeholder gets the given number of digits. The parameter hex is the expression for 32 digits.
func fillPlaceholder(constant, hex string, digits int) string {
	return "replace(CAST(" + constant + " AS text), " + syntax.Literal(domain.Placeholder) + ", " + firstDigits(hex, digits) + ")"
}

// commonSurrogate returns the surrogate of a column type for which both databases use the same constant.
func commonSurrogate(t domain.ColumnType) string {
	switch t { //nolint:exhaustive // the dialects have separate surrogates for the other types
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt, domain.TypeNumber:
		return "0"
	case domain.TypeBoolean:
		return "FALSE"
	case domain.TypeTime:
		return "'1970-01-01 00:00:00+00:00'"
	case domain.TypeJSON, domain.TypeArray:
		return "'{}'"
	default:
		return "''"
	}
}
