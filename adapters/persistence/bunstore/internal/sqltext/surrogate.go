package sqltext

import (
	"strconv"

	"github.com/habeas-data/habeas/domain"
)

// minPrefixedLength is the length of the shortest surrogate (replacement of an erased value) that begins with "anon-":
// this prefix and 12 digits.
const minPrefixedLength = len("anon-") + 12

// anonymousText returns the expression for the surrogate (the replacement) of a text: "anon-" and 32 hexadecimal
// digits. A column with a limited length gets fewer digits. If fewer than 12 digits would fit after "anon-", the
// surrogate consists of digits only, because the digits make it unique. The parameter hex is the expression for 32
// digits.
func anonymousText(hex string, length int) string {
	const prefix, digits = len("anon-"), 32
	switch {
	case length == 0 || length >= prefix+digits:
		return "'anon-' || " + hex
	case length >= minPrefixedLength:
		return "'anon-' || substr(" + hex + ", 1, " + strconv.Itoa(length-prefix) + ")"
	default:
		return "substr(" + hex + ", 1, " + strconv.Itoa(length) + ")"
	}
}

// fillPlaceholder returns the expression for a constant in which hexadecimal digits replace each domain.Placeholder.
// Each placeholder gets the given number of digits. The parameter hex is the expression for 32 digits.
func fillPlaceholder(constant, hex string, digits int) string {
	if digits < 32 {
		hex = "substr(" + hex + ", 1, " + strconv.Itoa(digits) + ")"
	}
	return "replace(CAST(" + constant + " AS text), " + literal(domain.Placeholder) + ", " + hex + ")"
}

// IsNulled reports whether an erasure sets the column to NULL.
func IsNulled(column domain.Column) bool {
	return column.Personal != nil && column.Personal.Strategy == domain.StrategyNull
}

// commonSurrogate returns the surrogate (the replacement of an erased value) of a column type for which both databases
// use the same constant.
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
