package sqltext

import (
	"strconv"

	"github.com/habeas-data/habeas/domain"
)

// shortest is the length of the shortest surrogate that begins with "anon-": with 12 digits behind it.
const shortest = len("anon-") + 12

// anonymousText is a surrogate for texts: "anon-" and 32 hexadecimal digits, of which a column with a limited length
// gets what fits, the digits first, because they make it unique.
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

// filled is a constant with so many of the hexadecimal digits in place of each placeholder.
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

// commonSurrogate covers the types whose surrogate is a constant that both databases spell alike.
func commonSurrogate(t domain.ColumnType) string {
	switch t { //nolint:exhaustive // the others are up to the dialect
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
