package subject

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

const (
	// selectKeys reads a page of the keys that identify objects in an external system, such as names of files. It
	// compares keys byte by byte, so that the collation of the column has no effect.
	selectKeys = `SELECT DISTINCT {key} AS held FROM ({columns}) AS k ORDER BY 1 LIMIT {limit}`

	// keysOfColumn selects the keys in one column. A FOR UPDATE clause ({lock}) prevents the planner from flattening the
	// subquery into selectKeys. The database then locks all matching rows, and not only the rows of the page.
	keysOfColumn = `
		SELECT held FROM (SELECT {key} AS held FROM {table} AS t0
		WHERE {rows} AND {key} > CAST({after} AS text){erased}{lock}) AS {name}`
)

// keysStatement returns the statement that reads a page of keys of an external system, its parameters, and the tables
// that it reads. The text is "" if no column holds keys of that system.
//
// If scope is not nil, the statement selects only the keys in cells that a sweep overwrites.
func keysStatement(
	w *rows.Writer, live rows.Live, query datamap.KeyQuery, scope *domain.SweepScope, key []any,
) (text string, args []any, tables []string) {
	args = append(slices.Clone(key), query.After, query.Limit)
	after, limit := syntax.Placeholder(len(args)-1), syntax.Placeholder(len(args))
	lock := ""
	if (!query.ErasedAt.IsZero() || query.Cells != nil) && query.After == "" {
		lock = w.Dialect.ForUpdate()
	}
	var columns []string
	for _, table := range w.DataMap.Tables() {
		for _, column := range table.RefColumns(query.Resolver) {
			for _, path := range w.DataMap.Paths(table.Name) {
				if !query.Includes(table, column) ||
					!w.DataMap.PassesKeys(table, column, path, !query.ErasedAt.IsZero()) {
					continue
				}
				erased, constants := keyCondition(w, live, table, column, path, query, scope, len(args))
				if erased == "" {
					continue
				}
				args = append(args, rows.ResolveConstants(constants, query.ErasedAt)...)
				if query.Cells != nil && query.Cells.Row != "" {
					row, ok := domain.SplitTuple(query.Cells.Row, len(table.PrimaryKey))
					if !ok { // no row can have this key
						continue
					}
					erased += " AND " + w.HasPrimaryKey("t0", table, row, func(value any) string {
						args = append(args, value)
						return syntax.Placeholder(len(args))
					})
				}
				columns = append(columns, syntax.Fill(keysOfColumn,
					"key", w.Bytewise(rows.AsText("t0."+syntax.Quote(column.Name))), "table", syntax.QuoteTable(table.Name),
					"rows", w.RowsOf(table, path, 0), "after", after, "erased", erased, "lock", lock,
					"name", rows.CteName(len(columns))))
				if !slices.Contains(tables, table.Name) {
					tables = append(tables, table.Name)
				}
			}
		}
	}
	if len(columns) == 0 {
		return "", nil, nil
	}
	return syntax.Fill(selectKeys, "key", w.Bytewise("k.held"), "columns", strings.Join(columns, " UNION ALL "),
		"limit", limit), args, tables
}

// keyCondition returns the condition, with a leading AND, that selects the cells of a column from which a statement
// reads keys of an external system. It returns "" if the statement reads no key from the column. The placeholders of
// the returned constants start at $(offset+1).
func keyCondition(
	w *rows.Writer, live rows.Live, table datamap.Table, column datamap.Column, path datamap.Path, query datamap.KeyQuery,
	scope *domain.SweepScope, offset int,
) (condition string, constants []any) {
	retained := column.Personal.Strategy == domain.StrategyRetain
	switch {
	case query.ErasedAt.IsZero() || !retained && scope == nil:
		return " AND TRUE", nil
	case !retained || w.DataMap.Keeps(table, column):
		return "", nil
	}
	sw := w.StepWriter(table, live.Types(table.Name), offset)
	overwritten := sw.IsOverwritten(column.Name, datamap.Step{Via: path.Via, At: query.ErasedAt, Scope: scope})
	return " AND COALESCE(" + overwritten + ", FALSE)", sw.Constants
}

// Keys implements ports.SubjectStore. If query.ErasedAt or query.Cells is set, the caller is an erasure or a
// rectification, and Keys locks the rows that it reads until the transaction ends.
func (s *Work) Keys(ctx context.Context, id domain.SubjectID, query datamap.KeyQuery) ([]string, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if err := s.db.Usable(); err != nil || query.Limit <= 0 {
		return nil, err
	}
	changes, schema := !query.ErasedAt.IsZero() || query.Cells != nil, s.store.schemas.Last()
	if changes || schema == nil { // an export reads the newest schema after the keys
		if schema, err = s.readSchema(ctx, id, key); err != nil {
			return nil, err
		}
	}
	if _, err := schema.RefuseSubject(id, "read keys"); err != nil {
		return nil, s.db.Fail(ctx, "read keys", err)
	}
	run, need := s.db.Read, live.ToRead
	if changes {
		run, need = s.db.WriteRows, live.ToUpdate
	}
	text, args, tables := keysStatement(s.store.writer, schema, query, nil, key)
	return s.readKeys(ctx, run, need, tables, text, args)
}

// SweptKeys implements ports.ErasedStore.
func (s *Work) SweptKeys(ctx context.Context, id domain.SubjectID, query datamap.KeyQuery) ([]string, error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if err := s.db.Usable(); err != nil || query.Limit <= 0 || query.ErasedAt.IsZero() {
		return nil, err
	}
	scope, err := s.lockToSweep(ctx, id, key, query.DutiesSince)
	if err != nil || scope == nil {
		return nil, err
	}
	if _, err := s.schema.RefuseSubject(id, "read keys"); err != nil {
		return nil, s.db.Fail(ctx, "read keys", err)
	}
	text, args, tables := keysStatement(s.store.writer, s.schema, query, scope, key)
	return s.readKeys(ctx, s.db.WriteRows, live.ToUpdate, tables, text, args)
}

// readKeys runs a statement that reads keys of an external system. If the database refuses the statement, the error
// names the privileges that the role lacks on the tables.
func (s *Work) readKeys(
	ctx context.Context, run conn.Run, need func(table string) live.Need, tables []string, text string, args []any,
) (keys []string, err error) {
	if text == "" {
		return nil, nil
	}
	err = run(ctx, "read keys", func(rows *sql.Rows) error {
		var held string
		err := rows.Scan(&held)
		keys = append(keys, held)
		return err
	}, text, args...)
	if err != nil {
		return nil, s.explain(ctx, "read keys", err, live.NeedsOf(tables, need)...)
	}
	return keys, nil
}
