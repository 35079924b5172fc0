package conformance

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// createTables returns the statements that create the tables of a data map. Every relation without a condition becomes
// a foreign key. The foreign keys have no ON DELETE.
func createTables(m domain.DataMap, types map[domain.ColumnType]string) []string {
	var statements []string
	for _, table := range inOrder(m.Tables()) {
		var lines []string
		for _, column := range table.Columns {
			kind := types[column.Type]
			if column.Length > 0 {
				kind = "varchar(" + strconv.Itoa(column.Length) + ")"
			}
			lines = append(lines, quote(column.Name)+" "+kind)
		}
		lines = append(lines, "PRIMARY KEY ("+quoteAll(table.PrimaryKey)+")")
		for _, relation := range table.Relations {
			if relation.When != nil {
				continue // a foreign key cannot express a condition
			}
			lines = append(lines, "FOREIGN KEY ("+quoteAll(relation.Columns)+") REFERENCES "+
				quote(relation.References)+" ("+quoteAll(relation.ReferencedColumns)+")")
		}
		if table.Name == "addresses" { // see porttest.DataMap
			lines = append(lines, "CHECK ("+quote("street")+" <> 'refused')")
		}
		statements = append(statements, "CREATE TABLE "+quote(table.Name)+" ("+strings.Join(lines, ", ")+")")
	}
	return statements
}

// inOrder sorts the tables so that each table follows the tables that it refers to.
func inOrder(tables []domain.Table) []domain.Table {
	var ordered []domain.Table
	made := map[string]bool{}
	for len(ordered) < len(tables) {
		for _, table := range tables {
			ready := !made[table.Name]
			for _, relation := range table.Relations {
				ready = ready && (made[relation.References] || relation.References == table.Name)
			}
			if ready {
				made[table.Name] = true
				ordered = append(ordered, table)
			}
		}
	}
	return ordered
}

// sqliteTypes returns the SQL type for each column type. They are the types that bun uses for the columns of its
// models.
func sqliteTypes() map[domain.ColumnType]string {
	return map[domain.ColumnType]string{
		domain.TypeText: "VARCHAR", domain.TypeSmallInt: "INTEGER", domain.TypeInteger: "INTEGER",
		domain.TypeBigInt: "INTEGER", domain.TypeNumber: "DOUBLE PRECISION", domain.TypeBoolean: "BOOLEAN",
		domain.TypeTime: "TIMESTAMP", domain.TypeUUID: "VARCHAR", domain.TypeJSON: "JSON", domain.TypeBytes: "BLOB",
	}
}

func postgresTypes() map[domain.ColumnType]string {
	return map[domain.ColumnType]string{
		domain.TypeText: "text", domain.TypeSmallInt: "smallint", domain.TypeInteger: "integer",
		domain.TypeBigInt: "bigint", domain.TypeNumber: "numeric", domain.TypeBoolean: "boolean",
		domain.TypeTime: "timestamptz", domain.TypeUUID: "uuid", domain.TypeJSON: "jsonb", domain.TypeBytes: "bytea",
	}
}

func quote(name string) string { return `"` + name + `"` }

func quoteAll(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }
