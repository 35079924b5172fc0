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
	"github.com/habeas-data/habeas/domain/plan"
)

const (
	// selectKeys reads a page of the keys that identify objects in an external system, such as names of files. It
	// compares keys byte by byte, so that the collation of the column has no effect.
	selectKeys = `SELECT {distinct} {key} AS held FROM ({selected}) AS k {except} ORDER BY 1 LIMIT {limit}`

	// exceptKept leaves out the keys in kept cells. EXCEPT also removes duplicates. With 100,000 erased and 100,000 kept
	// cells, NOT IN takes twice as long on SQLite, and NOT EXISTS more than ten times as long on PostgreSQL.
	exceptKept = `EXCEPT SELECT {key} FROM ({kept}) AS k`

	// keysOfColumn selects the keys in one column. A FOR UPDATE clause ({lock}) prevents the planner from flattening the
	// subquery into selectKeys. The database then locks all matching rows, and not only the rows of the page.
	keysOfColumn = `
		SELECT held FROM (SELECT {key} AS held FROM {table} AS t0
		WHERE {rows} AND {key} > CAST({after} AS text) AND {condition}{lock}) AS {name}`
)

// keyReader builds the statement that reads a page of keys of an external system. If the query is that of an erasure or
// a sweep, the statement leaves out the keys in kept cells. A kept cell is a cell in the subject's rows that this
// operation does not erase.
type keyReader struct {
	*rows.Writer
	live  *live.Schema
	query plan.KeyQuery
	scope *domain.SweepScope // if it is set, the statement selects only the keys in cells that a sweep overwrites

	args           []any
	after, limit   string   // placeholders
	selected, kept []string // statements that select the keys in the selected cells and in the kept cells of a column
	tables         []string // the tables with selected cells
	keptIn         []string // the tables with kept cells
}

// keysStatement returns the statement that reads a page of keys, or "" if the query selects no cells.
func (r *keyReader) keysStatement(key []any) string {
	r.args = append(slices.Clone(key), r.query.After, r.query.Limit)
	r.after, r.limit = syntax.Placeholder(len(r.args)-1), syntax.Placeholder(len(r.args))
	for _, table := range r.DataMap.Tables() {
		for _, column := range table.RefColumns(r.query.Resolver) {
			r.addColumn(table, column)
		}
	}
	if len(r.selected) == 0 {
		return ""
	}
	held, distinct, except := r.Bytewise("k.held"), "DISTINCT", ""
	if len(r.kept) > 0 {
		distinct, except = "", syntax.Fill(exceptKept, "key", held, "kept", strings.Join(r.kept, " UNION ALL "))
	}
	return syntax.Fill(selectKeys, "distinct", distinct, "key", held, "selected", strings.Join(r.selected, " UNION ALL "),
		"except", except, "limit", r.limit)
}

// addColumn adds the statements for one column.
func (r *keyReader) addColumn(table datamap.Table, column datamap.Column) {
	lock := ""
	isLocked := len(table.SubjectKey) == 0 || r.live.Locks(table.Name)
	if (!r.query.ErasedAt.IsZero() || r.query.Cells != nil) && r.query.After == "" && isLocked {
		lock = r.Dialect.ForUpdate()
	}
	paths := r.DataMap.Paths(table.Name)
	conditions := make([]string, len(paths))
	for i, path := range paths {
		if conditions[i] = r.condition(table, column, path); conditions[i] != "" {
			r.selected = append(r.selected, r.keysOfColumn(len(r.selected), table, column, path, conditions[i], lock))
			r.tables = append(r.tables, table.Name)
		}
	}
	for i, path := range paths {
		if r.query.ErasedAt.IsZero() || conditions[i] == allCells {
			continue
		}
		erased := []string{"FALSE"}
		for j, other := range paths {
			switch {
			case conditions[j] == "":
			case j == i:
				erased = append(erased, conditions[j])
			default: // the row may have this path, too
				erased = append(erased, r.RowsOf(table, other, 0)+" AND "+conditions[j])
			}
		}
		// The rows are not locked, because the role may lack this privilege on a table that the operation only reads.
		kept := "NOT COALESCE(" + strings.Join(erased, " OR ") + ", FALSE)"
		r.kept = append(r.kept, r.keysOfColumn(len(r.kept), table, column, path, kept, ""))
		r.keptIn = append(r.keptIn, table.Name)
	}
}

func (r *keyReader) keysOfColumn(
	number int, table datamap.Table, column datamap.Column, path datamap.Path, condition, lock string,
) string {
	return syntax.Fill(keysOfColumn,
		"key", r.Bytewise(rows.AsText("t0."+syntax.Quote(column.Name))), "table", syntax.QuoteTable(table.Name),
		"rows", r.RowsOf(table, path, 0), "after", r.after, "condition", condition, "lock", lock,
		"name", rows.CteName(number))
}

// allCells is the condition that selects all cells of a column.
const allCells = "TRUE"

// condition returns the condition that selects cells of a column, in the rows that the path connects to the subject. It
// returns "" if the query selects no cells.
func (r *keyReader) condition(table datamap.Table, column datamap.Column, path datamap.Path) string {
	retained, erases := column.Personal.Strategy == domain.StrategyRetain, !r.query.ErasedAt.IsZero()
	if !plan.SelectsKeys(r.DataMap, r.query, table, column, path) ||
		erases && (plan.Keeps(r.DataMap, table, column) || !retained && r.scope != nil) {
		return ""
	}
	var conditions []string
	if r.query.Cells != nil && r.query.Cells.Row != "" {
		row, ok := domain.SplitTuple(r.query.Cells.Row, len(table.PrimaryKey))
		if !ok { // no row can have this key
			return ""
		}
		conditions = append(conditions, r.HasPrimaryKey("t0", table, row, func(value any) string {
			r.args = append(r.args, value)
			return syntax.Placeholder(len(r.args))
		}))
	}
	if erases && retained {
		sw := r.StepWriter(table, r.live.Types(table.Name), len(r.args))
		overwritten := sw.IsOverwritten(column.Name, datamap.Step{Via: path.Via, At: r.query.ErasedAt, Scope: r.scope})
		r.args = append(r.args, rows.ResolveConstants(sw.Constants, r.query.ErasedAt)...)
		conditions = append(conditions, "COALESCE("+overwritten+", FALSE)")
	}
	if len(conditions) == 0 {
		return allCells
	}
	return strings.Join(conditions, " AND ")
}

// Keys implements ports.SubjectStore. If query.ErasedAt or query.Cells is set, the caller is an erasure or a
// rectification, and Keys locks the rows that it reads until the transaction ends.
func (s *Work) Keys(ctx context.Context, id domain.SubjectID, query plan.KeyQuery) ([]string, error) {
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
	if changes && schema.MayNotLock() {
		if err := s.tryLocks(ctx, key); err != nil {
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
	return s.readKeys(ctx, run, need, keyReader{Writer: s.store.writer, live: schema, query: query}, key)
}

// SweptKeys implements ports.ErasedStore.
func (s *Work) SweptKeys(ctx context.Context, id domain.SubjectID, query plan.KeyQuery) ([]string, error) {
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
	reader := keyReader{Writer: s.store.writer, live: s.schema, query: query, scope: scope}
	return s.readKeys(ctx, s.db.WriteRows, live.ToUpdate, reader, key)
}

// readKeys runs the statement of the reader. If the database refuses the statement, the error names the privileges that
// the role lacks on the tables. The parameter need returns the privileges for a table with selected cells.
func (s *Work) readKeys(
	ctx context.Context, run conn.Run, need func(table string) live.Need, reader keyReader, key []any,
) (keys []string, err error) {
	text := reader.keysStatement(key)
	if text == "" {
		return nil, nil
	}
	err = run(ctx, "read keys", func(rows *sql.Rows) error {
		var held string
		err := rows.Scan(&held)
		keys = append(keys, held)
		return err
	}, text, reader.args...)
	if err != nil {
		tables := slices.Compact(reader.tables)
		kept := slices.DeleteFunc(slices.Compact(reader.keptIn), func(name string) bool {
			return slices.Contains(tables, name)
		})
		needs := append(live.NeedsOf(tables, need), live.NeedsOf(kept, live.ToRead)...)
		return nil, s.explain(ctx, "read keys", err, needs...)
	}
	return keys, nil
}
