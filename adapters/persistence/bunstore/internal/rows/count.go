package rows

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Count returns the statement that answers a question about the rows of a table. Its row has the number of the rows
// with a value in the columns of the question, and the number of those that the question asks for.
func Count(d syntax.Dialect, of datamap.RowQuestion) string {
	if of.Relation == nil {
		column := "c." + syntax.Quote(of.Start)
		return syntax.Fill("SELECT count(*), count(CASE WHEN ({start}) IS NULL THEN 1 END) FROM {table} AS c"+
			" WHERE {column} IS NOT NULL", "table", syntax.QuoteTable(of.Table), "column", column,
			"start", dialectOf(d).dutyStart(column, ""))
	}
	var present, exact, columns, keys []string
	for i, name := range of.Relation.Columns {
		column, key := "c."+syntax.Quote(name), "p."+syntax.Quote(of.Relation.ReferencedColumns[i])
		present = append(present, column+" IS NOT NULL")
		exact = append(exact, key+" = "+column)
		columns, keys = append(columns, folded(column)), append(keys, folded(key))
	}
	if when := of.Relation.When; when != nil {
		present = append(present, "CAST(c."+syntax.Quote(when.Column)+" AS text) = "+syntax.Literal(when.Value))
	}
	return syntax.Fill(`
		SELECT count(*), count(CASE WHEN NOT EXISTS (SELECT 1 FROM {parent} AS p WHERE {exact})
			AND ({columns}) IN (SELECT {keys} FROM {parent} AS p) THEN 1 END)
		FROM {table} AS c WHERE {present}`, "table", syntax.QuoteTable(of.Table),
		"parent", syntax.QuoteTable(of.Relation.References), "present", strings.Join(present, " AND "),
		"exact", strings.Join(exact, " AND "), "columns", strings.Join(columns, ", "), "keys", strings.Join(keys, ", "))
}

func folded(column string) string { return "lower(trim(CAST(" + column + " AS text)))" }
