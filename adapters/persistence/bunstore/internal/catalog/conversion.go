package catalog

import (
	"math"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// longNumber reports whether a text looks like a number that a numeric column of SQLite stores as a rounded
// floating-point number. These are numbers of at least 2^53 that are not 64-bit integers. Several such texts may become
// the same number, so that a row may seem to belong to several subjects.
//
// Other numbers are safe. For example, a row with the number 7 belongs to the subject with the id 7. If there is no
// such subject, the row belongs to the subject whose id has the same value, such as 007.
func longNumber(text string) bool {
	if strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789+-.eE", r) }) {
		return false
	}
	f, err := strconv.ParseFloat(text, 64)
	_, notWhole := strconv.ParseInt(text, 10, 64)
	return f != 0 && (err != nil || notWhole != nil && math.Abs(f) >= 1<<53)
}

// conversion returns a message about a column of the table whose type makes SQLite convert the keys of subjects.
// Because of the conversion, a statement may confuse the rows of different subjects. conversion returns "" if there is
// no such column. It ignores tables that do not exist, because their types are unknown.
func (c *Catalog) conversion(table domain.Table) string {
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

// narrowing returns a message about a numeric column of the table that refers to a text column of the subject's key. In
// such a column, SQLite confuses subjects if longNumber returns true for their ids. narrowing returns "" if there is no
// such column.
func (c *Catalog) narrowing(table domain.Table) string {
	subject := c.cache.text.DataMap.SubjectTable()
	for _, path := range c.cache.text.DataMap.Paths(table.Name) {
		if len(path.Relations) != 1 {
			continue
		}
		for i, name := range path.Relations[0].Columns {
			key, _ := subject.Column(path.Relations[0].ReferencedColumns[i])
			declared, known := c.declared(c.tables[table.Name].types, name)
			keyType, keyKnown := c.declared(c.tables[subject.Name].types, key.Name)
			if known && keyKnown && key.Type == domain.TypeText && c.cache.text.Dialect.MergesTexts(keyType, declared) {
				return unlike(table.Name+"."+name, declared, subject.Name+"."+key.Name, keyType)
			}
		}
	}
	return ""
}

func unlike(column, columnType, key, keyType string) string {
	return column + " has " + typeCalled(columnType) + ", and " + key + ", which it refers to, has " + typeCalled(keyType)
}

func (c *Catalog) declared(types map[string]string, column string) (declared string, known bool) {
	for name, declared := range types {
		if c.cache.text.Dialect.SameName(name, column) {
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
