package check

import (
	"slices"
	"strconv"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkColumns compares the types and lengths of the columns in the data map with those in the database.
func (s *schema) checkColumns() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		for _, column := range table.Columns {
			found, ok := live.Column(column.Name)
			if ok && column.Personal != nil {
				s.checkType(table, column, found)
				s.checkLength(table, column, found)
			}
			if ok && !s.catalog.Untyped {
				s.checkSince(table, column, found)
			}
		}
		if !s.catalog.Untyped && s.needed[table.Name] {
			s.checkKeyTypes(table, live)
		}
	})
}

// family returns one type for each group of types that the database compares with each other. For example, it returns
// TypeNumber for all integer types.
func family(t datamap.ColumnType) datamap.ColumnType {
	switch t { //nolint:exhaustive // each of the other types is its own family
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt:
		return datamap.TypeNumber
	case datamap.TypeArray:
		return datamap.TypeJSON
	default:
		return t
	}
}

// checkType reports a column whose type in the database differs so much that an export would misinterpret its values.
// If the surrogate of the column does not fit the type, checkSurrogates reports the column instead.
func (s *schema) checkType(table datamap.Table, column datamap.Column, live datamap.CatalogColumn) {
	isText := column.Type == datamap.TypeText || live.Type == datamap.TypeText // every value has a text form
	if isText || !differ(column.Type, live.Type) || s.catalog.Untyped || s.surrogateRefused(table, column) {
		return
	}
	s.report("type-differs", place{table: table.Name, column: column.Name},
		"The data map has the type "+string(column.Type)+", but the database has "+live.Declared+
			". Exports and corrections may misinterpret values.",
		"Use the type "+string(live.Type)+" in the data map, or change the type in the database.")
}

// surrogateRefused reports whether an erasure overwrites the column with a surrogate (replacement value) that does not
// fit its type.
func (s *schema) surrogateRefused(table datamap.Table, column datamap.Column) bool {
	return slices.ContainsFunc(s.writtenColumns(table.Name), func(w written) bool {
		return w.Name == column.Name && !w.null && !surrogateOf(column).fits(w.live)
	})
}

func (s *schema) checkLength(table datamap.Table, column datamap.Column, live datamap.CatalogColumn) {
	if live.Length > 0 && column.Length > live.Length && !s.catalog.Untyped {
		s.report("length-shorter", place{table: table.Name, column: column.Name},
			"The data map allows "+strconv.Itoa(column.Length)+" characters, but the database takes "+
				strconv.Itoa(live.Length)+". A correction that the data map allows may fail.",
			"Set the length "+strconv.Itoa(live.Length)+" in the data map, or make the column longer.")
	}
}

// checkSince reports a column whose type cannot be the start of a retention period.
func (s *schema) checkSince(table datamap.Table, column datamap.Column, live datamap.CatalogColumn) {
	isStart := slices.ContainsFunc(table.Personal(),
		func(c datamap.Column) bool { return c.Personal.Since == column.Name })
	if isStart && live.Type != datamap.TypeTime && live.Type != datamap.TypeText {
		s.report("since-type", place{table: table.Name, column: column.Name},
			"A retention period starts at the value of this column, but its type is "+live.Declared+
				". The period never ends, and the retained values are never erased.")
	}
}

func differ(a, b datamap.ColumnType) bool { return a != "" && b != "" && family(a) != family(b) }
