package find

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/internal/sqltype"
	"github.com/habeas-data/habeas/domain"
)

type postgres struct{}

// fromItem uses ONLY to exclude the rows of inheriting tables, because a search reads each inheriting table separately.
func (postgres) fromItem(table domain.CatalogTable) string {
	if table.Kind == domain.KindTable {
		return "ONLY " + syntax.QualifiedName(table)
	}
	return syntax.QualifiedName(table)
}

// typesWithoutText holds the first words of the names of database types. Columns of these types hold no text, and data
// maps have no such types.
var typesWithoutText = []string{"interval", "time", "bit", "money", "oid"}

func (postgres) canHoldText(column domain.CatalogColumn) bool {
	declared := strings.TrimSuffix(column.Declared, "[]")
	switch t, _ := sqltype.Parse(declared); t { //nolint:exhaustive // the other types hold text
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt, domain.TypeNumber, domain.TypeBoolean,
		domain.TypeTime, domain.TypeUUID:
		return false
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(declared, "(", " "), " ")
	return column.Values == nil && !slices.Contains(typesWithoutText, first)
}

func (postgres) searchPatterns(value string) []any { return []any{domain.SearchPattern(value)} }

// firstRow returns a statement that contacts the server of a foreign table.
func (postgres) firstRow(fromItem string) string { return "SELECT 1 FROM " + fromItem + " LIMIT 1" }

// foreignPartitions returns a statement that lists the quoted names of the foreign tables among the partitions.
func (postgres) foreignPartitions(table domain.CatalogTable) string {
	return syntax.Fill(`
		SELECT format('%I.%I', n.nspname, c.relname)
		FROM pg_partition_tree(CAST({name} AS regclass)) AS p JOIN pg_catalog.pg_class AS c ON c.oid = p.relid
		JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind = 'f' ORDER BY 1`, "name", syntax.Literal(syntax.QualifiedName(table)))
}

// counts returns a statement that compares texts with collation C, character by character. It reads binary data in the
// format escape, which keeps the characters of ASCII.
func (postgres) counts(table searchedTable, values int) string {
	conditions := []string{"t.text{n} ~ CAST({pattern} AS text)"}
	return countsBy(table, values, "OFFSET 0", conditions, func(column domain.CatalogColumn) string {
		if t, _ := sqltype.Parse(column.Declared); t == domain.TypeBytes {
			return `encode({column}, 'escape') COLLATE "C" AS text{n}`
		}
		return `CAST({column} AS text) COLLATE "C" AS text{n}`
	})
}
