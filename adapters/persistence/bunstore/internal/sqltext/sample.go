package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

const sampleRows = `SELECT {columns} FROM {table} AS t0 WHERE {rows}{concerned} ORDER BY {key}{limit}`

// Sample returns the statement that reads some rows of a step of an erasure, see domain.SampleQuery. The columns of the
// result are the primary key and query.Columns, as texts. The parameter key is the subject's key.
func (w *Writer) Sample(live Live, query domain.SampleQuery, key []any) (text string, args []any) {
	table, _ := w.DataMap.Table(query.Step.Target)
	var columns []string
	for _, name := range slices.Concat(table.PrimaryKey, query.Columns) {
		columns = append(columns, asText("t0."+Quote(name)))
	}
	rows, concerned, limit := "", "", ""
	if query.Keys == nil {
		sw := w.stepWriter(table, live.Types(table.Name), len(key))
		rows, concerned = w.rowsOfStep("t0", table, query.Step, 0), sw.coveredRows(query.Step)
		args = slices.Concat(key, resolveConstants(sw.constants, query.Step.At))
		limit = " LIMIT " + strconv.Itoa(query.Limit)
	} else {
		var keys []string
		for _, key := range query.Keys {
			values := make([]string, len(key))
			for i := range key {
				values[i], _ = key[i].Reveal()
			}
			keys = append(keys, "("+w.hasPrimaryKey("t0", table, values, func(value any) string {
				args = append(args, value)
				return placeholder(len(args))
			})+")")
		}
		rows = "(" + strings.Join(keys, " OR ") + ")"
	}
	return fill(sampleRows, "columns", strings.Join(columns, ", "), "table", quoteTable(table.Name), "rows", rows,
		"concerned", concerned, "key", list("t0", table.PrimaryKey), "limit", limit), args
}
