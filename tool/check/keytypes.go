package check

import (
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkKeyTypes reports a subject key or a relation with types that the database refuses to compare.
func (s *schema) checkKeyTypes(table datamap.Table, live datamap.CatalogTable) {
	for _, name := range table.SubjectKey {
		column, _ := table.Column(name)
		found, ok := live.Column(name)
		isNumber := family(column.Type) == datamap.TypeNumber
		if ok && isNumber && found.Type != "" && family(found.Type) != datamap.TypeNumber {
			s.report("key-type", place{table: table.Name, column: name},
				"The data map has the type "+string(column.Type)+", but the database has "+found.Declared+
					". It refuses to compare the two types, and every operation fails.",
				"Use the type "+string(found.Type)+" in the data map.")
		}
	}
	seen := map[string]bool{}
	for _, path := range s.Paths(table.Name) {
		if len(path.Relations) == 0 || seen[list(path.Relations[0].Columns)] {
			continue
		}
		relation := path.Relations[0]
		seen[list(relation.Columns)] = true
		for i, name := range relation.Columns {
			parent, known := s.live[relation.References]
			key, hasKey := parent.Column(relation.ReferencedColumns[i])
			found, ok := live.Column(name)
			if !known || !hasKey || !ok || !differ(key.Type, found.Type) {
				continue
			}
			s.report("key-type", place{table: table.Name, column: name},
				"It has the type "+found.Declared+", but refers to "+relation.References+"."+key.Name+" of the type "+
					key.Declared+". The database refuses to compare the two types, and every operation fails.",
				"Give both columns the same type"+generatedKey(table.Name, found, key)+".")
		}
	}
}

// generatedKey returns the part of a remedy that adds a generated column: it has the key that a column holds as another
// type. A text that is no key gives NULL. generatedKey returns "" if no expression converts the type safely.
func generatedKey(table string, column, key datamap.CatalogColumn) string {
	digits := map[datamap.ColumnType]string{
		datamap.TypeSmallInt: "{1,4}", datamap.TypeInteger: "{1,9}", datamap.TypeBigInt: "{1,18}",
	}[key.Type]
	to := "CAST(" + column.Name + " AS " + key.Declared + ")"
	switch {
	case key.Type == datamap.TypeText:
	case column.Type == datamap.TypeText && digits != "":
		to = "CASE WHEN " + column.Name + " ~ '^[0-9]" + digits + "$' THEN " + to + " END"
	case column.Type == datamap.TypeText && key.Type == datamap.TypeUUID:
		to = "CASE WHEN " + column.Name + " ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN " + to + " END"
	default:
		return ""
	}
	return ", or relate by a column that the database generates: ALTER TABLE " + table + " ADD COLUMN " +
		strings.ToLower(column.Name) + "_key " + key.Declared + " GENERATED ALWAYS AS (" + to + ") STORED"
}
