package bunstore

import (
	"math"
	"strconv"
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

// comparable reports whether each value of a key column equals just those values of a column of other types that stand
// for it. The text of a UUID never looks like a number.
func (sqlite) comparable(t domain.ColumnType, keyType, columnType string) bool {
	key, column := affinityOf(keyType), affinityOf(columnType)
	switch {
	case key == column || t == domain.TypeUUID:
		return true
	case key == affinityReal || column == affinityReal || key == affinityAny || column == affinityAny:
		return false
	}
	switch t { //nolint:exhaustive // of the others only texts are lost as numbers
	case domain.TypeText: // see longNumber
		return key == affinityText && column == affinityNumeric || key != affinityNumeric && column != affinityNumeric
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt: // a text and what is not converted are never equal
		return key == affinityNumeric || column == affinityNumeric
	default:
		return column != affinityNumeric
	}
}

// keeps leaves out keys of floating-point numbers, which have other texts and fewer digits.
func (sqlite) keeps(t domain.ColumnType, keyType string) bool {
	return t == domain.TypeUUID || affinityOf(keyType) != affinityReal
}

// longNumber reports whether a text looks like a number of more than 64 bits. A numeric column makes the same
// floating-point number of many such texts. Other texts that look like numbers, such as 007, are compared as numbers: a
// row belongs to the key with the same spelling, or else to the key with the same value.
func longNumber(text string) bool {
	if strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789+-.eE", r) }) {
		return false
	}
	f, err := strconv.ParseFloat(text, 64)
	_, notWhole := strconv.ParseInt(text, 10, 64)
	return f != 0 && (err != nil || notWhole != nil && math.Abs(f) >= 1<<53)
}

// conversion says which columns of a table the database converts such that the rows of one subject could not be told
// from those of others; empty if there are none. The types of tables that are missing are not known.
func (s *Store) conversion(c *catalog, table domain.Table) string {
	types := c.tables[table.Name].types
	for _, name := range table.SubjectKey {
		column, _ := table.Column(name)
		if declared, known := s.declared(types, name); known && !s.dialect.keeps(column.Type, declared) {
			return table.Name + "." + name + " has the type " + declared
		}
	}
	path := s.dataMap.Path(table.Name)
	if len(path) == 0 {
		return ""
	}
	parent, _ := s.dataMap.Table(path[0].References)
	for i, name := range path[0].Columns {
		key, _ := parent.Column(path[0].ReferencedColumns[i])
		declared, known := s.declared(types, name)
		keyType, keyKnown := s.declared(c.tables[parent.Name].types, key.Name)
		if known && keyKnown && !s.dialect.comparable(key.Type, keyType, declared) {
			return unlike(table.Name+"."+name, declared, parent.Name+"."+key.Name, keyType)
		}
	}
	return ""
}

// narrowing names the column of a table that holds numbers and refers to a text of the subject's key. It is empty if no
// column does.
func (s *Store) narrowing(c *catalog, table domain.Table) string {
	subject, path := s.dataMap.SubjectTable(), s.dataMap.Path(table.Name)
	if len(path) != 1 {
		return ""
	}
	for i, name := range path[0].Columns {
		key, _ := subject.Column(path[0].ReferencedColumns[i])
		declared, known := s.declared(c.tables[table.Name].types, name)
		keyType, keyKnown := s.declared(c.tables[subject.Name].types, key.Name)
		if known && keyKnown && key.Type == domain.TypeText && s.dialect.narrows(keyType, declared) {
			return unlike(table.Name+"."+name, declared, subject.Name+"."+key.Name, keyType)
		}
	}
	return ""
}

func (sqlite) narrows(keyType, columnType string) bool {
	return affinityOf(keyType) == affinityText && affinityOf(columnType) == affinityNumeric
}

func unlike(column, columnType, key, keyType string) string {
	return column + " has " + typeCalled(columnType) + ", and " + key + ", which it refers to, has " + typeCalled(keyType)
}

func (s *Store) declared(types map[string]string, column string) (declared string, known bool) {
	for name, declared := range types {
		if s.dialect.sameName(name, column) {
			return declared, true
		}
	}
	return "", false
}

func typeCalled(declared string) string {
	if declared == "" {
		return "no type"
	}
	return "the type " + declared
}
