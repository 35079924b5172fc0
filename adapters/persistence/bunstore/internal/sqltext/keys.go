package sqltext

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

const (
	// selectKeys reads a page. A text without the collation of its column is compared byte by byte.
	selectKeys = `SELECT DISTINCT {key} AS held FROM ({columns}) AS k ORDER BY 1 LIMIT {limit}`

	// keysOfColumn cannot be flattened into selectKeys where it locks rows: they are all locked, whatever the limit is.
	keysOfColumn = `
		SELECT held FROM (SELECT {key} AS held FROM {table} AS t0
		WHERE {rows} AND {key} > CAST({after} AS text){erased}{lock}) AS {name}`
)

// Keys writes the statement that reads keys of an external system, and returns the tables that it reads. The text is
// empty if no column holds such keys.
func (w *Writer) Keys(live Live, query domain.KeyQuery, key []any) (text string, args []any, tables []string) {
	args = append(slices.Clone(key), query.After, query.Limit)
	after, limit := parameter(len(args)-1), parameter(len(args))
	lock := ""
	if !query.ErasedAt.IsZero() && query.After == "" {
		lock = w.Dialect.forUpdate()
	}
	var columns []string
	for _, table := range w.DataMap.Tables() {
		for _, column := range table.KeysOf(query.Resolver) {
			for _, path := range w.DataMap.Paths(table.Name) {
				if !w.DataMap.HandsOver(table, column, path, !query.ErasedAt.IsZero()) {
					continue
				}
				erased, constants := w.erasedKey(live, table, column, query, len(args))
				if erased == "" {
					continue
				}
				args = append(args, constantsAt(constants, query.ErasedAt)...)
				columns = append(columns, fill(keysOfColumn,
					"key", w.Dialect.bytewise(asText("t0."+Quote(column.Name))), "table", quoteTable(table.Name),
					"rows", w.rowsOf(table, path, 0), "after", after, "erased", erased, "lock", lock,
					"name", nameOf(len(columns))))
				if !slices.Contains(tables, table.Name) {
					tables = append(tables, table.Name)
				}
			}
		}
	}
	if len(columns) == 0 {
		return "", nil, nil
	}
	return fill(selectKeys, "key", w.Dialect.bytewise("k.held"), "columns", strings.Join(columns, " UNION ALL "),
		"limit", limit), args, tables
}

// erasedKey is the condition, after another one, that the query wants a cell; empty for a column of which it wants
// none. Its constants come after others.
func (w *Writer) erasedKey(
	live Live, table domain.Table, column domain.Column, query domain.KeyQuery, others int,
) (condition string, constants []any) {
	switch {
	case query.ErasedAt.IsZero() || column.Personal.Strategy != domain.StrategyRetain:
		return " AND TRUE", nil
	case w.DataMap.Keeps(table, column):
		return "", nil
	}
	sw := w.stepWriter(table, live.Types(table.Name), others)
	return " AND COALESCE(" + sw.expired(column.Name, query.ErasedAt) + ", FALSE)", sw.constants
}
