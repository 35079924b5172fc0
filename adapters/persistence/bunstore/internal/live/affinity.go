package live

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

// affinityOf returns the type affinity of a declared column type. The order of the cases is the order of SQLite's
// rules, because the first rule that matches applies.
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

// comparesExactly reports whether SQLite finds exactly the matching rows when it compares a key with a column that refers
// to the key. The parameter t is the type of the key in the data map. The parameters keyType and columnType are the types
// that the database declares for the key and the column. It returns false if the type affinities of the two columns differ in such a way that SQLite may convert
// a value in only one of the columns. A key could then differ from the value that refers to it. UUIDs are always
// comparable, because SQLite never converts the text of a UUID to a number.
func comparesExactly(t domain.ColumnType, keyType, columnType string) bool {
	key, column := affinityOf(keyType), affinityOf(columnType)
	switch {
	case key == column || t == domain.TypeUUID:
		return true
	case key == affinityReal || column == affinityReal || key == affinityAny || column == affinityAny:
		return false
	}
	switch t { //nolint:exhaustive // the other types differ only if their text becomes a number
	case domain.TypeText: // see Schema.RefuseConverted
		return key == affinityText && column == affinityNumeric || key != affinityNumeric && column != affinityNumeric
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt: // without conversion, a number never equals a text
		return key == affinityNumeric || column == affinityNumeric
	default:
		return column != affinityNumeric
	}
}

// storesUnchanged returns false for a floating-point column, because such a column stores the text 1 as 1.0, and rounds
// long numbers. It returns true for a UUID, because SQLite never converts a UUID.
func storesUnchanged(t domain.ColumnType, keyType string) bool {
	return t == domain.TypeUUID || affinityOf(keyType) != affinityReal
}

// convertsTexts reports whether different texts become the same value in a column of the declared type columnType. For
// example, '1' and '01' become the same number.
func convertsTexts(columnType string) bool {
	affinity := affinityOf(columnType)
	return affinity == affinityNumeric || affinity == affinityAny
}
