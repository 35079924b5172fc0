package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// affinity is how SQLite converts what is written to a column, and what the column is compared with.
type affinity int

const (
	affinityNone    affinity = iota // nothing is converted
	affinityText                    // numbers become texts
	affinityNumeric                 // texts that look like numbers become numbers, by INTEGER and NUMERIC alike
	affinityReal                    // numbers, too, become floating-point numbers
	affinityAny                     // NUMERIC, and none in a STRICT table
)

// affinityOf is the affinity of a declared type, by the rules of SQLite in their order.
func affinityOf(declared string) affinity {
	declared = strings.ToUpper(declared)
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(declared, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return affinityNumeric
	case has("CHAR", "CLOB", "TEXT"):
		return affinityText
	case has("BLOB"), declared == "":
		return affinityNone
	case has("REAL", "FLOA", "DOUB"):
		return affinityReal
	case declared == "ANY":
		return affinityAny
	default:
		return affinityNumeric
	}
}

// Comparable reports whether each value of a key column equals just those values of a column of other types that stand
// for it. The text of a UUID never looks like a number.
func (sqlite) Comparable(t domain.ColumnType, keyType, columnType string) bool {
	key, column := affinityOf(keyType), affinityOf(columnType)
	switch {
	case key == column || t == domain.TypeUUID:
		return true
	case key == affinityReal || column == affinityReal || key == affinityAny || column == affinityAny:
		return false
	}
	switch t { //nolint:exhaustive // of the others only texts are lost as numbers
	case domain.TypeText: // see longNumber in package catalog
		return key == affinityText && column == affinityNumeric || key != affinityNumeric && column != affinityNumeric
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt: // a text and what is not converted are never equal
		return key == affinityNumeric || column == affinityNumeric
	default:
		return column != affinityNumeric
	}
}

// Keeps leaves out keys of floating-point numbers, which have other texts and fewer digits.
func (sqlite) Keeps(t domain.ColumnType, keyType string) bool {
	return t == domain.TypeUUID || affinityOf(keyType) != affinityReal
}

func (sqlite) Narrows(keyType, columnType string) bool {
	return affinityOf(keyType) == affinityText && affinityOf(columnType) == affinityNumeric
}
