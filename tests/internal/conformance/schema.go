package conformance

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// createTables returns the statements that create the tables of a data map. Every relation without a condition becomes
// a foreign key. The foreign keys have no ON DELETE.
func createTables(m datamap.DataMap, types map[datamap.ColumnType]string) []string {
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
func inOrder(tables []datamap.Table) []datamap.Table {
	var ordered []datamap.Table
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
func sqliteTypes() map[datamap.ColumnType]string {
	return map[datamap.ColumnType]string{
		datamap.TypeText: "VARCHAR", datamap.TypeSmallInt: "INTEGER", datamap.TypeInteger: "INTEGER",
		datamap.TypeBigInt: "INTEGER", datamap.TypeNumber: "DOUBLE PRECISION", datamap.TypeBoolean: "BOOLEAN",
		datamap.TypeTime: "TIMESTAMP", datamap.TypeUUID: "VARCHAR", datamap.TypeJSON: "JSON", datamap.TypeBytes: "BLOB",
	}
}

func postgresTypes() map[datamap.ColumnType]string {
	return map[datamap.ColumnType]string{
		datamap.TypeText: "text", datamap.TypeSmallInt: "smallint", datamap.TypeInteger: "integer",
		datamap.TypeBigInt: "bigint", datamap.TypeNumber: "numeric", datamap.TypeBoolean: "boolean",
		datamap.TypeTime: "timestamptz", datamap.TypeUUID: "uuid", datamap.TypeJSON: "jsonb", datamap.TypeBytes: "bytea",
	}
}

func quote(name string) string { return `"` + name + `"` }

func quoteAll(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }
