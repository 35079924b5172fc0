package sqltext

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

const (
	// selectKeys reads a page of keys. The keys are compared byte by byte, without the collation of their column.
	selectKeys = `SELECT DISTINCT {key} AS held FROM ({columns}) AS k ORDER BY 1 LIMIT {limit}`

	// keysOfColumn selects the keys of one column. If it has a FOR UPDATE clause, the planner cannot flatten it into
	// selectKeys. It then locks all matching rows, independent of the limit.
	keysOfColumn = `
		SELECT held FROM (SELECT {key} AS held FROM {table} AS t0
		WHERE {rows} AND {key} > CAST({after} AS text){erased}{lock}) AS {name}`
)

// Keys returns the statement that reads keys of an external system, with the tables that it reads. The text is empty if
// no column holds such keys.
//
// With left, the query selects only the cells that a sweep overwrites.
func (w *Writer) Keys(
	live Live, query domain.KeyQuery, scope *domain.SweepScope, key []any,
) (text string, args []any, tables []string) {
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
				if !w.DataMap.PassesKeys(table, column, path, !query.ErasedAt.IsZero()) {
					continue
				}
				erased, constants := w.erasedKey(live, table, column, query, scope, len(args))
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

// erasedKey returns the condition, with a leading AND, for the cells of a column that a query selects. The condition is
// empty if the query selects no cell of the column. The parameters of its constants are numbered after the given number
// of other parameters.
func (w *Writer) erasedKey(
	live Live, table domain.Table, column domain.Column, query domain.KeyQuery, scope *domain.SweepScope, others int,
) (condition string, constants []any) {
	retained := column.Personal.Strategy == domain.StrategyRetain
	switch {
	case query.ErasedAt.IsZero() || !retained && scope == nil:
		return " AND TRUE", nil
	case !retained || w.DataMap.Keeps(table, column):
		return "", nil
	}
	sw := w.stepWriter(table, live.Types(table.Name), others)
	goes := sw.goes(column.Name, domain.Step{At: query.ErasedAt, Scope: scope})
	return " AND COALESCE(" + goes + ", FALSE)", sw.constants
}
