package sqltext

import (
	"strconv"

	"github.com/habeas-data/habeas/domain"
)

// shortest is the length of the shortest surrogate that begins with "anon-", which has 12 digits.
const shortest = len("anon-") + 12

// anonymousText returns a surrogate for texts: "anon-" and 32 hexadecimal digits. A column with a limited length gets
// fewer digits. If fewer than 12 digits would fit, it gets only digits, because they make the surrogate unique.
func anonymousText(hex string, length int) string {
	const prefix, digits = len("anon-"), 32
	switch {
	case length == 0 || length >= prefix+digits:
		return "'anon-' || " + hex
	case length >= shortest:
		return "'anon-' || substr(" + hex + ", 1, " + strconv.Itoa(length-prefix) + ")"
	default:
		return "substr(" + hex + ", 1, " + strconv.Itoa(length) + ")"
	}
}

// filled returns a constant in which each placeholder is replaced by a number of the hexadecimal digits.
func filled(constant, hex string, digits int) string {
	if digits < 32 {
		hex = "substr(" + hex + ", 1, " + strconv.Itoa(digits) + ")"
	}
	return "replace(CAST(" + constant + " AS text), " + literal(domain.Placeholder) + ", " + hex + ")"
}

// IsNulled reports whether an erasure sets a column to NULL.
func IsNulled(column domain.Column) bool {
	return column.Personal != nil && column.Personal.Strategy == domain.StrategyNull
}

// commonSurrogate returns the surrogate of a type whose surrogate is the same constant in both databases.
func commonSurrogate(t domain.ColumnType) string {
	switch t { //nolint:exhaustive // the dialects cover the other types
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
