package names

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// Rival returns another table to which a column without a foreign key may refer instead of the table to, although the
// column is named after to. For example, user_id in console_sessions may refer to console_users instead of users. The
// names of the rival and of the referring table from begin with the same words, or both tables are in the same schema.
// For a column such as user_id, the rival may also be a table of people after which from is named, as staff is for
// staff_tokens. Rival returns false if there is no such table with a key of the type of the column.
func Rival(
	tables []datamap.CatalogTable, from datamap.CatalogTable, column datamap.CatalogColumn, to datamap.CatalogTable,
) (rival string, found bool) {
	i := slices.IndexFunc(tables, func(other datamap.CatalogTable) bool {
		return other.Name != from.Name && other.Name != to.Name && hasKeyLike(other, column) &&
			(isNearer(from.Name, other.Name, to.Name) || isNamesake(from, other, to)) && !refersTo(other, to)
	})
	if i < 0 {
		return "", false
	}
	return tables[i].Name, true
}

// IsMember reports whether the stem of a reference (see Stem) is member, and no table has members to which the
// reference may lead, such as team_members.
func IsMember(tables []datamap.CatalogTable, stem string) bool {
	return Same(stem, "member") && !slices.ContainsFunc(tables, func(t datamap.CatalogTable) bool {
		return EndsIn(BaseName(t.Name), stem)
	})
}

// isNearer reports whether other and to have the same name without the words with which the name of from begins, and
// more of these words are in the name of other. If the names are equal, the schema of from decides.
func isNearer(from, other, to string) bool {
	shared, rest := sharedWords(from, other)
	sharedByTo, restOfTo := sharedWords(from, to)
	if !Same(rest, restOfTo) {
		return false
	}
	if shared != sharedByTo {
		return shared > sharedByTo
	}
	return schemaOf(other) == schemaOf(from) && schemaOf(to) != schemaOf(from)
}

// sharedWords returns the number of words with which both names begin, and the other words of the second name. At least
// the last word of the second name is another word.
func sharedWords(from, name string) (n int, rest string) {
	begin, parts := partsOf(BaseName(from)), partsOf(BaseName(name))
	for n < len(begin) && n < len(parts)-1 && begin[n] == parts[n] {
		n++
	}
	return n, strings.Join(parts[n:], " ")
}

// isNamesake reports whether from is named after other, a table of people, and to is a table of users. It returns false
// if another column of from refers to other, or if to refers to other, as users refer to accounts of companies.
func isNamesake(from, other, to datamap.CatalogTable) bool {
	begin, people, users := partsOf(BaseName(from.Name)), partsOf(BaseName(other.Name)), partsOf(BaseName(to.Name))
	if len(begin) <= len(people) || len(users) == 0 || Singular(users[len(users)-1]) != "user" {
		return false
	}
	return Same(strings.Join(begin[:len(people)], " "), BaseName(other.Name)) &&
		(IsPeople(other.Name) || roleOf(BaseName(other.Name)) == Maker) && !refersTo(from, other) && !refersTo(to, other)
}

// RefersBeside reports whether a column of from seems to refer to other by the end of its name, as agent_id does for
// site_agents. If other is the Rival of the table to, a column such as user_id may then refer to the table to.
func RefersBeside(from, other, to datamap.CatalogTable) bool {
	return slices.ContainsFunc(from.Columns, func(c datamap.CatalogColumn) bool {
		stem, isReference := Stem(c.Name)
		return isReference && !Same(stem, BaseName(to.Name)) && EndsIn(BaseName(other.Name), stem) && hasKeyLike(other, c)
	})
}

// refersTo reports whether a foreign key of the table, or a column named like a reference, leads to the table to.
func refersTo(table, to datamap.CatalogTable) bool {
	return slices.ContainsFunc(table.ForeignKeys, func(key datamap.CatalogForeignKey) bool {
		return to.IsCalled(key.References)
	}) || slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
		stem, isReference := Stem(c.Name)
		return isReference && Same(stem, BaseName(to.Name))
	})
}

// hasKeyLike reports whether the key of a table is one column with the type of the given column.
func hasKeyLike(table datamap.CatalogTable, column datamap.CatalogColumn) bool {
	if len(table.PrimaryKey) != 1 {
		return false
	}
	key, ok := table.Column(table.PrimaryKey[0])
	isAlike := key.Type == column.Type || isWhole(key.Type) && isWhole(column.Type)
	return ok && (isAlike || key.Type == "" || column.Type == "")
}

func isWhole(t datamap.ColumnType) bool {
	return slices.Contains([]datamap.ColumnType{datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt}, t)
}

func schemaOf(table string) string { return table[:strings.LastIndexByte(table, '.')+1] }
