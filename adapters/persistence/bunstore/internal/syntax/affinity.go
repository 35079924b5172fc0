package syntax

import "strings"

// Affinity is the type affinity of a column in SQLite. It controls how SQLite converts the values that a statement
// writes to the column or compares with it.
type Affinity int

// The affinities.
const (
	AffinityNone    Affinity = iota // SQLite converts nothing
	AffinityText                    // numbers become texts
	AffinityNumeric                 // texts that look like numbers become numbers; includes INTEGER
	AffinityReal                    // numbers become floating-point numbers
	AffinityAny                     // NUMERIC in an ordinary table, no conversion in a STRICT table
)

// AffinityOf returns the type affinity of a declared column type. The order of the cases is the order of SQLite's
// rules, because the first rule that matches applies.
func AffinityOf(declared string) Affinity {
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
		return AffinityNumeric
	case has("CHAR", "CLOB", "TEXT"):
		return AffinityText
	case has("BLOB"), declared == "":
		return AffinityNone
	case has("REAL", "FLOA", "DOUB"):
		return AffinityReal
	case declared == "ANY":
		return AffinityAny
	default:
		return AffinityNumeric
	}
}
