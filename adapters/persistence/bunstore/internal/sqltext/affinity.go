package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// affinity is the type affinity of a column in SQLite. It controls how SQLite converts the values that a statement
// writes to the column or compares with it.
type affinity int

const (
	affinityNone    affinity = iota // SQLite converts nothing
	affinityText                    // numbers become texts
	affinityNumeric                 // texts that look like numbers become numbers; includes INTEGER
	affinityReal                    // numbers become floating-point numbers
	affinityAny                     // NUMERIC in an ordinary table, no conversion in a STRICT table
)

// affinityOf returns the affinity of a declared type. The cases follow the order of SQLite's rules.
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

// Comparable reports whether each value of a key column equals exactly the values that stand for it in a column of
// another declared type. The text of a UUID never looks like a number, so UUIDs are always comparable.
func (sqlite) Comparable(t domain.ColumnType, keyType, columnType string) bool {
	key, column := affinityOf(keyType), affinityOf(columnType)
	switch {
	case key == column || t == domain.TypeUUID:
		return true
	case key == affinityReal || column == affinityReal || key == affinityAny || column == affinityAny:
		return false
	}
	switch t { //nolint:exhaustive // the other types are only lost if their text becomes a number
	case domain.TypeText: // see longNumber in package catalog
		return key == affinityText && column == affinityNumeric || key != affinityNumeric && column != affinityNumeric
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt: // a number never equals an unconverted text
		return key == affinityNumeric || column == affinityNumeric
	default:
		return column != affinityNumeric
	}
}

// Keeps returns false for floating-point columns, which change the text of a number and drop digits. A UUID is never
// converted.
func (sqlite) Keeps(t domain.ColumnType, keyType string) bool {
	return t == domain.TypeUUID || affinityOf(keyType) != affinityReal
}

func (sqlite) Narrows(keyType, columnType string) bool {
	return affinityOf(keyType) == affinityText && affinityOf(columnType) == affinityNumeric
}
