// Package facts answers questions about a schema that its catalog decides: which columns could hold the key of a
// person, which references lead to people, and which tables are about nobody. It reads no row. Names only sort what it
// finds; see package dictionary.
package facts

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
)

// Schema is a catalog with the table of the people. It is immutable.
type Schema struct {
	catalog datamap.Catalog
	subject datamap.CatalogTable
	key     []datamap.CatalogColumn // the columns of a person's id
	links   map[string][]Link       // all links by table, also those that lead nowhere
	home    map[string]bool         // the schemas whose tables are decided one by one
}

// Read returns the schema with the given table of the people and the columns of a person's id.
func Read(catalog datamap.Catalog, subjectTable string, subjectKey []string) Schema {
	s := Schema{catalog: catalog, links: map[string][]Link{}, home: map[string]bool{}}
	s.subject, _ = catalog.Table(subjectTable)
	for _, name := range subjectKey {
		if column, ok := s.subject.Column(name); ok {
			s.key = append(s.key, column)
		}
	}
	for _, table := range catalog.Tables {
		if !isView(table) {
			s.links[table.Name] = s.allLinks(table)
		}
	}
	for _, table := range catalog.Tables {
		isForeign := table.Schema != "" && strings.HasPrefix(table.Name, table.Schema+".")
		leads := slices.ContainsFunc(s.Links(table), func(l Link) bool { return l.ForeignKey })
		if !isForeign || s.IsSubject(table) || leads {
			s.home[table.Schema] = true
		}
	}
	return s
}

// Subject returns the table of the people.
func (s Schema) Subject() datamap.CatalogTable { return s.subject }

// IsSubject reports whether the table is the table of the people.
func (s Schema) IsSubject(table datamap.CatalogTable) bool { return table.Name == s.subject.Name }

func isView(table datamap.CatalogTable) bool { return table.Kind == datamap.KindView }

// Exempt reports whether no decision about the table is needed: it is a view, whose rows are those of other tables, or
// it inherits from a table of the catalog, with which it is decided.
func (s Schema) Exempt(table datamap.CatalogTable) bool {
	return isView(table) || slices.ContainsFunc(table.Inherits, func(parent string) bool {
		_, ok := s.catalog.Table(parent)
		return ok
	})
}

// Object returns the object of the decision about the table (datamap.Decision.Object): the name of the table, or all
// tables of its schema, such as legacy.*. The tables of a schema are decided together if the connection finds none of
// them without the schema, and if no foreign key leads from them to people.
func (s Schema) Object(table datamap.CatalogTable) string {
	if s.home[table.Schema] {
		return table.Name
	}
	return table.Schema + ".*"
}

// CouldHoldKey reports whether a column could hold the key of a person, whatever its name is. It has the declared type
// of the key, no foreign key, no constant default, and no list of values, and it is neither computed nor the key of its
// own rows. A column that is named like a key counts with another type for whole numbers or texts, and with a default.
func (s Schema) CouldHoldKey(table datamap.CatalogTable, column datamap.CatalogColumn) bool {
	_, isKey := dictionary.Stem(column.Name)
	isNamed := isKey || dictionary.Names(column.Name)
	switch {
	case column.Generated, table.IsChoice(column), inForeignKey(table, column.Name), s.isOwnKey(table, column):
		return false
	case column.Initial != "" && !isNamed:
		return false
	}
	return slices.ContainsFunc(s.key, func(key datamap.CatalogColumn) bool {
		declared, wanted := strings.TrimSuffix(column.Declared, "[]"), key.Declared
		if s.catalog.Untyped || isNamed && column.Type != datamap.TypeArray {
			declared, wanted = family(column.Type), family(key.Type)
		}
		return base(declared) == base(wanted)
	})
}

// isOwnKey reports whether a column identifies the rows of its own table, and its name names no person.
func (s Schema) isOwnKey(table datamap.CatalogTable, column datamap.CatalogColumn) bool {
	if s.IsSubject(table) && slices.ContainsFunc(s.key, func(key datamap.CatalogColumn) bool {
		return key.Name == column.Name
	}) {
		return true
	}
	if len(table.PrimaryKey) != 1 || table.PrimaryKey[0] != column.Name {
		return false
	}
	stem, isKey := dictionary.Stem(column.Name)
	isPerson := dictionary.Same(stem, s.subject.Name) || isKey && dictionary.Names(column.Name)
	return s.IsSubject(table) || !isPerson || dictionary.Same(stem, table.Name)
}

func inForeignKey(table datamap.CatalogTable, column string) bool {
	return slices.ContainsFunc(table.ForeignKeys, func(k datamap.CatalogForeignKey) bool {
		return slices.Contains(k.Columns, column)
	})
}

// base returns a declared type without its length.
func base(declared string) string {
	name, _, _ := strings.Cut(strings.ToLower(declared), "(")
	return strings.TrimSpace(name)
}

// family returns a text that is equal for types whose values a database can compare.
func family(t datamap.ColumnType) string {
	if slices.Contains([]datamap.ColumnType{datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt}, t) {
		return string(datamap.TypeBigInt)
	}
	return string(t)
}

// HasTexts reports whether a column of the table can hold a text or a document with any content.
func HasTexts(table datamap.CatalogTable) bool {
	return slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool { return IsText(table, c) })
}

// IsText reports whether a column can hold a text or a document with any content.
func IsText(table datamap.CatalogTable, column datamap.CatalogColumn) bool {
	switch column.Type { //nolint:exhaustive // the others hold neither texts nor documents
	case datamap.TypeText:
		return !table.IsChoice(column)
	case datamap.TypeJSON, datamap.TypeBytes, datamap.TypeArray, "":
		return true
	default:
		return false
	}
}

// Harmless reports whether the table is about nobody by the facts of the catalog: none of its columns could hold the
// key of a person, no reference ends at people, and it has neither texts nor documents. It needs no decision.
func (s Schema) Harmless(table datamap.CatalogTable) bool {
	return !s.IsSubject(table) && !HasTexts(table) && len(s.Links(table)) == 0 &&
		!slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool { return s.CouldHoldKey(table, c) })
}

// Seen returns the columns of the table, and then its references, such as "user_id -> users". See Decision.Seen.
func Seen(table datamap.CatalogTable) []string {
	var seen []string
	for _, column := range table.Columns {
		seen = append(seen, column.Name)
	}
	for _, key := range table.ForeignKeys {
		seen = append(seen, strings.Join(key.Columns, ", ")+" -> "+key.References)
	}
	return seen
}

// Changed returns the columns and references of the table that are not among those in seen. Pass what all decisions
// about the table have seen.
func Changed(table datamap.CatalogTable, seen []string) []string {
	return slices.DeleteFunc(Seen(table), func(one string) bool {
		return slices.ContainsFunc(seen, func(other string) bool {
			return one == other || table.FoldsCase && strings.EqualFold(one, other)
		})
	})
}
