package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
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

// ComparesExactly returns false if the type affinities of the two columns differ in such a way that SQLite may convert
// a value in only one of the columns. A key could then differ from the value that refers to it. UUIDs are always
// comparable, because SQLite never converts the text of a UUID to a number.
func (sqlite) ComparesExactly(t datamap.ColumnType, keyType, columnType string) bool {
	key, column := affinityOf(keyType), affinityOf(columnType)
	switch {
	case key == column || t == datamap.TypeUUID:
		return true
	case key == affinityReal || column == affinityReal || key == affinityAny || column == affinityAny:
		return false
	}
	switch t { //nolint:exhaustive // the other types differ only if their text becomes a number
	case datamap.TypeText: // see Catalog.RefuseConverted
		return key == affinityText && column == affinityNumeric || key != affinityNumeric && column != affinityNumeric
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt: // without conversion, a number never equals a text
		return key == affinityNumeric || column == affinityNumeric
	default:
		return column != affinityNumeric
	}
}

// StoresUnchanged returns false for a floating-point column, because such a column stores the text 1 as 1.0, and rounds
// long numbers. It returns true for a UUID, because SQLite never converts a UUID.
func (sqlite) StoresUnchanged(t datamap.ColumnType, keyType string) bool {
	return t == datamap.TypeUUID || affinityOf(keyType) != affinityReal
}

func (sqlite) ConvertsTexts(columnType string) bool {
	affinity := affinityOf(columnType)
	return affinity == affinityNumeric || affinity == affinityAny
}
