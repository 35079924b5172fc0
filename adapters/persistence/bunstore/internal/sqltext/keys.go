package sqltext

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

const (
	// selectKeys reads a page of the keys that identify objects in an external system, such as names of files. It compares
	// keys byte by byte, so that the collation of the column has no effect.
	selectKeys = `SELECT DISTINCT {key} AS held FROM ({columns}) AS k ORDER BY 1 LIMIT {limit}`

	// keysOfColumn selects the keys in one column. A FOR UPDATE clause ({lock}) prevents the planner from flattening the
	// subquery into selectKeys. The database then locks all matching rows, and not only the rows of the page.
	keysOfColumn = `
		SELECT held FROM (SELECT {key} AS held FROM {table} AS t0
		WHERE {rows} AND {key} > CAST({after} AS text){erased}{lock}) AS {name}`
)

// Keys returns the statement that reads a page of keys of an external system, its parameters, and the tables that it
// reads. The text is "" if no column holds keys of that system.
//
// If scope is not nil, the statement selects only the keys in cells that a sweep overwrites.
func (w *Writer) Keys(
	live Live, query datamap.KeyQuery, scope *domain.SweepScope, key []any,
) (text string, args []any, tables []string) {
	args = append(slices.Clone(key), query.After, query.Limit)
	after, limit := placeholder(len(args)-1), placeholder(len(args))
	lock := ""
	if (!query.ErasedAt.IsZero() || query.Cells != nil) && query.After == "" {
		lock = w.Dialect.forUpdate()
	}
	var columns []string
	for _, table := range w.DataMap.Tables() {
		for _, column := range table.RefColumns(query.Resolver) {
			for _, path := range w.DataMap.Paths(table.Name) {
				if !query.Includes(table, column) ||
					!w.DataMap.PassesKeys(table, column, path, !query.ErasedAt.IsZero()) {
					continue
				}
				erased, constants := w.keyCondition(live, table, column, path, query, scope, len(args))
				if erased == "" {
					continue
				}
				args = append(args, resolveConstants(constants, query.ErasedAt)...)
				if query.Cells != nil && query.Cells.Row != "" {
					row, ok := domain.SplitTuple(query.Cells.Row, len(table.PrimaryKey))
					if !ok { // no row can have this key
						continue
					}
					erased += " AND " + w.hasPrimaryKey("t0", table, row, func(value any) string {
						args = append(args, value)
						return placeholder(len(args))
					})
				}
				columns = append(columns, fill(keysOfColumn,
					"key", w.Dialect.bytewise(asText("t0."+Quote(column.Name))), "table", quoteTable(table.Name),
					"rows", w.rowsOf(table, path, 0), "after", after, "erased", erased, "lock", lock,
					"name", cteName(len(columns))))
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

// keyCondition returns the condition, with a leading AND, that selects the cells of a column from which a statement
// reads keys of an external system. It returns "" if the statement reads no key from the column. The placeholders of
// the returned constants start at $(offset+1).
func (w *Writer) keyCondition(
	live Live, table datamap.Table, column datamap.Column, path datamap.Path, query datamap.KeyQuery,
	scope *domain.SweepScope, offset int,
) (condition string, constants []any) {
	retained := column.Personal.Strategy == domain.StrategyRetain
	switch {
	case query.ErasedAt.IsZero() || !retained && scope == nil:
		return " AND TRUE", nil
	case !retained || w.DataMap.Keeps(table, column):
		return "", nil
	}
	sw := w.stepWriter(table, live.Types(table.Name), offset)
	overwritten := sw.isOverwritten(column.Name, datamap.Step{Via: path.Via, At: query.ErasedAt, Scope: scope})
	return " AND COALESCE(" + overwritten + ", FALSE)", sw.constants
}
