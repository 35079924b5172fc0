package catalog

import (
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/habeas-data/habeas/domain/datamap"
)

// numberText matches the texts that a numeric column of SQLite converts to numbers.
var numberText = regexp.MustCompile(`^[ \t-\r]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t-\r]*$`)

// isKept reports whether a numeric column of SQLite keeps a text: it stores the text itself, or a number that has this
// text and no other. It does not keep 07, 1e1, +7 or 7.0, because it stores them as 7 or 10, the numbers of other
// texts. It does not keep numbers that SQLite rounds either.
func isKept(text string) bool {
	if !numberText.MatchString(text) {
		return true
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10) == text
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f != math.Trunc(f) && strconv.FormatFloat(f, 'g', exactDigits, 64) == text
}

// exactDigits is the number of decimal digits that a floating-point number always keeps.
const exactDigits = 15

// numericColumn is a column in which SQLite converts a text of the subject's key to a number.
type numericColumn struct {
	element int    // the index in the subject's key
	own     bool   // the column belongs to the subject's table
	why     string // a message that names the column, and the column of the key to which it refers
}

// conversion returns a message about a column of the table whose type makes SQLite convert the keys of subjects.
// Because of the conversion, a statement may confuse the rows of different subjects. conversion returns "" if there is
// no such column. It ignores tables that do not exist, because their types are unknown.
func (c *Catalog) conversion(table datamap.Table) string {
	types := c.tables[table.Name].types
	for _, name := range table.SubjectKey {
		column, _ := table.Column(name)
		if declared, known := c.declared(types, name); known && !c.cache.text.Dialect.StoresUnchanged(column.Type, declared) {
			return table.Name + "." + name + " has the type " + declared
		}
	}
	for _, path := range c.cache.text.DataMap.Paths(table.Name) {
		if len(path.Relations) == 0 {
			return ""
		}
		relation := path.Relations[0]
		parent, _ := c.cache.text.DataMap.Table(relation.References)
		for i, name := range relation.Columns {
			key, _ := parent.Column(relation.ReferencedColumns[i])
			declared, known := c.declared(types, name)
			keyType, keyKnown := c.declared(c.tables[parent.Name].types, key.Name)
			if known && keyKnown && !c.cache.text.Dialect.ComparesExactly(key.Type, keyType, declared) {
				return unlike(table.Name+"."+name, declared, parent.Name+"."+key.Name, keyType)
			}
		}
	}
	return ""
}

// numericColumns returns the columns of the table that hold texts of the subject's key, and that SQLite has as numeric
// columns. In such a column, SQLite confuses subjects whose ids are texts of the same number; see isKept.
func (c *Catalog) numericColumns(table datamap.Table) (found []numericColumn) {
	subject, dialect := c.cache.text.DataMap.SubjectTable(), c.cache.text.Dialect
	add := func(column, key string, own bool) {
		described, _ := subject.Column(key)
		declared, known := c.declared(c.tables[table.Name].types, column)
		keyType, keyKnown := c.declared(c.tables[subject.Name].types, key)
		if !known || !keyKnown || described.Type != datamap.TypeText || !dialect.ConvertsTexts(declared) {
			return
		}
		why := table.Name + "." + column + " has " + typeCalled(declared)
		if !own {
			why = unlike(table.Name+"."+column, declared, subject.Name+"."+key, keyType)
		}
		found = append(found, numericColumn{slices.Index(subject.SubjectKey, key), own, why})
	}
	for _, path := range c.cache.text.DataMap.Paths(table.Name) {
		switch len(path.Relations) {
		case 0:
			for _, key := range table.SubjectKey {
				add(key, key, true)
			}
		case 1:
			for i, key := range path.Relations[0].ReferencedColumns {
				if slices.Contains(subject.SubjectKey, key) {
					add(path.Relations[0].Columns[i], key, false)
				}
			}
		}
	}
	return found
}

func unlike(column, columnType, key, keyType string) string {
	return column + " has " + typeCalled(columnType) + ", and " + key + ", which it refers to, has " + typeCalled(keyType)
}

func (c *Catalog) declared(types map[string]string, column string) (declared string, known bool) {
	return c.cache.declared(types, column)
}

func (c *Cache) declared(types map[string]string, column string) (declared string, known bool) {
	for name, declared := range types {
		if c.text.Dialect.SameName(name, column) {
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
