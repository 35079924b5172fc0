package cascade

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
)

// loss is the number of rows that a table and its partitions have lost.
type loss struct {
	table   reachedTable
	rows    int64
	emptied bool // by TRUNCATE: rows is not the number of lost rows
}

const (
	opWatch   = "erase: further rows"
	setSteps  = "SAVEPOINT habeas_steps"
	undoSteps = "ROLLBACK TO SAVEPOINT habeas_steps"
)

// begin reads the state before the steps.
func (w *watch) begin(ctx context.Context) error {
	if err := w.db.Begin(ctx); err != nil {
		return err
	}
	before, err := w.store.readBefore(ctx, w.db.QueryFor(opWatch), w.schema, w.Steps, w.Key)
	if err != nil {
		return w.db.Fail(ctx, opWatch, err)
	}
	w.before = before
	if w.store.own.deleted() == "" {
		if err := w.count(ctx); err != nil || w.savepoint || len(before.Noted) == 0 {
			return err
		}
		if err := w.note(ctx); err != nil {
			return err
		}
	}
	if !w.savepoint && (w.store.own.deleted() == "" || w.mayMislead()) {
		w.savepoint = true
		if err := w.exec(ctx, setSteps); err != nil {
			return err
		}
	}
	if len(w.compared) == 0 && !before.counters && w.counts == nil {
		w.compared = w.roots(func(t reachedTable) bool { return t.Readable })
	}
	return w.declare(ctx)
}

// exec runs a statement that changes no rows.
func (w *watch) exec(ctx context.Context, text string) error {
	_, err := w.db.Tx.Exec(ctx, text)
	return w.db.Fail(ctx, opWatch, err)
}

// roots returns the roots of the tables for which the callback returns true, each once.
func (w *watch) roots(include func(reachedTable) bool) (roots []reachedTable) {
	for _, table := range w.before.Tables {
		if include(table) && !slices.ContainsFunc(roots, func(r reachedTable) bool { return r.Root == table.Root }) {
			roots = append(roots, table)
		}
	}
	return roots
}

// declare makes the rows of the tables in w.compared readable as they are before the steps.
func (w *watch) declare(ctx context.Context) error {
	if len(w.compared) == 0 {
		return nil
	}
	var text string
	text, w.fetch, w.end = beforeDeletion(w.store.writer, w.compared)
	return w.exec(ctx, text)
}

// readLost returns the number of rows that each table has lost. A table and its partitions count as one table.
func (w *watch) readLost(ctx context.Context) ([]loss, error) {
	if w.counts != nil {
		return w.countAgain(ctx)
	}
	if w.before.counters && len(w.before.Tables) > 0 {
		if err := w.readCounters(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case len(w.compared) > 0:
		return w.compare(ctx)
	case !w.before.counters:
		return nil, nil
	}
	locked := map[string]bool{} // another transaction may also have given a table new storage, such as VACUUM FULL
	if slices.ContainsFunc(w.before.Tables, w.hasNewStorage) {
		err := w.db.Read(ctx, opWatch, func(r *sql.Rows) error {
			var id string
			err := r.Scan(&id)
			locked[id] = true
			return err
		}, w.store.own.lockedWholly())
		if err != nil {
			return nil, err
		}
	}
	var lost []loss
	for _, table := range w.before.Tables {
		rows := w.now[table.ID][0] - w.before.deleted[table.ID][0]
		lost = addLoss(lost, loss{table, rows, w.hasNewStorage(table) && locked[table.ID]})
	}
	return lost, nil
}

// readCounters sets the counters after the steps.
func (w *watch) readCounters(ctx context.Context) error {
	ids := make([]string, len(w.before.Tables))
	for i, table := range w.before.Tables {
		ids[i] = table.ID
	}
	w.now = map[string][4]int64{}
	return w.db.Read(ctx, opWatch, func(r *sql.Rows) error {
		var id string
		var read [4]int64
		err := r.Scan(&id, &read[0], &read[1], &read[2], &read[3])
		w.now[id] = read
		return err
	}, w.store.own.deleted(), syntax.TextList(ids))
}

func (w *watch) hasNewStorage(table reachedTable) bool {
	return w.now[table.ID][1] != w.before.deleted[table.ID][1]
}

func addLoss(lost []loss, more loss) []loss {
	i := slices.IndexFunc(lost, func(l loss) bool {
		return l.table.Root == more.table.Root && slices.Equal(l.table.Mapped, more.table.Mapped)
	})
	if i < 0 {
		return append(lost, more)
	}
	lost[i].rows += more.rows
	lost[i].emptied = lost[i].emptied || more.emptied
	return lost
}

// countEmptied counts the rows of the tables that the steps empty, before the steps run a second time.
func (w *watch) countEmptied(ctx context.Context) (err error) {
	for i, l := range w.emptied {
		if w.emptied[i].rows, err = w.number(ctx, countRows(l.table.Table)); err != nil {
			return err
		}
	}
	return nil
}

// addEmptied replaces the losses of the tables that countEmptied has counted by the numbers of lost rows.
func (w *watch) addEmptied(ctx context.Context, lost []loss) ([]loss, error) {
	for _, before := range w.emptied {
		after, err := w.number(ctx, countRows(before.table.Table))
		if err != nil {
			return nil, err
		}
		lost = slices.DeleteFunc(lost, func(l loss) bool { return l.table.Root == before.table.Root })
		lost = append(lost, loss{table: before.table, rows: max(0, before.rows-after)})
	}
	return lost, nil
}

// compare returns the number of rows that existed before the steps and exist no more.
func (w *watch) compare(ctx context.Context) ([]loss, error) {
	keys, before := make([][]string, len(w.compared)), make([]int64, len(w.compared))
	err := w.db.Read(ctx, opWatch, func(r *sql.Rows) error {
		var i int
		var key string
		if err := r.Scan(&i, &key); err != nil {
			return err
		}
		if w.compared[i].Key != nil {
			keys[i] = append(keys[i], key)
			return nil
		}
		n, err := strconv.ParseInt(key, 10, 64)
		before[i] = n
		return err
	}, w.fetch)
	if err == nil {
		err = w.exec(ctx, w.end)
	}
	if err != nil {
		return nil, err
	}
	var lost []loss
	for i, table := range w.compared {
		rows := before[i]
		if table.Key == nil {
			after, err := w.number(ctx, countRows(table.Table))
			if err != nil {
				return nil, err
			}
			rows -= after
		}
		if len(keys[i]) > 0 {
			rows, err = w.number(ctx, missing(w.store.writer, table), syntax.TextList(keys[i]))
			if err != nil {
				return nil, err
			}
		}
		lost = append(lost, loss{table: table, rows: rows})
	}
	return lost, nil
}

// count counts the rows of the tables before the steps. For a table into which a trigger may insert rows, it reads the
// keys of the rows.
func (w *watch) count(ctx context.Context) (err error) {
	w.counts, w.keys = make([]int64, len(w.before.Tables)), make([]string, len(w.before.Tables))
	for i, table := range w.before.Tables {
		if table.Inserted {
			err = w.db.Read(ctx, opWatch, func(r *sql.Rows) error { return r.Scan(&w.keys[i]) }, keysOf(w.store.writer, table))
		} else {
			w.counts[i], err = w.number(ctx, countRows(table.Table))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countAgain compares the rows after the steps with those that count has read.
func (w *watch) countAgain(ctx context.Context) (lost []loss, err error) {
	for i, table := range w.before.Tables {
		var rows int64
		if table.Inserted {
			rows, err = w.number(ctx, missing(w.store.writer, table), w.keys[i])
		} else {
			rows, err = w.number(ctx, countRows(table.Table))
			rows = max(0, w.counts[i]-rows)
		}
		if err != nil {
			return nil, err
		}
		lost = append(lost, loss{table: table, rows: rows})
	}
	return lost, nil
}

// number returns the number that a statement reads.
func (w *watch) number(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = w.db.Read(ctx, opWatch, func(r *sql.Rows) error { return r.Scan(&n) }, text, args...)
	return n, err
}

// beforeDeletion returns the statements of a query that reads the rows which the steps may delete, as they were before
// the steps. See dialect.beforeDeletion. A row of the query has the index of a table, and the rowKey. For a table
// without a key, it has the number of all rows. If several rows may have the same key, the query reads all rows.
func beforeDeletion(w *rows.Writer, tables []reachedTable) (declare, fetch, end string) {
	queries := make([]string, len(tables))
	for i, table := range tables {
		text, condition := `SELECT {i} AS t, {key} AS k FROM {table} AS t0{condition}`, " WHERE CAST(xmax AS text) <> '0'"
		switch {
		case table.Key == nil:
			text = `SELECT {i} AS t, CAST(count(*) AS text) AS k FROM {table}`
		case table.shares:
			condition = ""
		}
		queries[i] = syntax.Fill(text, "i", syntax.Placeholder(i)[1:], "table", table.Table, "key", rowKey(w, table, "t0"),
			"condition", condition)
	}
	return dialectOf(w.Dialect).beforeDeletion(strings.Join(queries, " UNION ALL "))
}

// countRows returns the statement that counts the rows of a table.
func countRows(table string) string { return "SELECT count(*) FROM " + table }

// keysOf returns the statement that reads the keys of all rows of a SQLite table, as a JSON array of texts.
func keysOf(w *rows.Writer, table reachedTable) string {
	return "SELECT json_group_array(" + rowKey(w, table, "t0") + ") FROM " + table.Table + " AS t0"
}

// missing returns the statement that counts the keys in its parameter, a JSON array, without a row in the table. If
// several rows had the same key, it counts by how many the table has fewer now.
func missing(w *rows.Writer, table reachedTable) string {
	return syntax.Fill(`
		WITH keys (k) AS ({keys}), before AS (SELECT k, count(*) AS n FROM keys GROUP BY k),
			after AS (SELECT {key} AS k, count(*) AS n FROM {table} AS t0 WHERE {key} IN (SELECT k FROM keys) GROUP BY 1)
		SELECT CAST(COALESCE(sum(b.n - COALESCE(a.n, 0)), 0) AS bigint)
		FROM before AS b LEFT JOIN after AS a ON a.k = b.k WHERE b.n > COALESCE(a.n, 0)`,
		"keys", w.Dialect.ArrayElements("$1"), "key", rowKey(w, table, "t0"), "table", table.Table)
}

// rowKey returns the expression for the key of a row, as a text. Different keys have different texts, whatever the
// settings of the session. On SQLite, a row without a key, or with NULL in it, has a text of its own.
func rowKey(w *rows.Writer, table reachedTable, alias string) string {
	if dialectOf(w.Dialect).deleted() != "" {
		return "CAST(json_build_array(" + strings.Join(w.KeyNames(alias, table.Key, nil), ", ") + ") AS text)"
	}
	text := func(columns []string) string {
		return "'' || " + syntax.Join(columns, " || ',' || ", func(name string) string {
			return "quote(" + alias + "." + syntax.Quote(name) + ")"
		})
	}
	if len(table.Key) == 0 {
		return text(table.rowID)
	}
	return "CASE WHEN " + syntax.Join(table.Key, " OR ", func(name string) string {
		return alias + "." + syntax.Quote(name) + " IS NULL"
	}) + " THEN 'NULL' || " + text(table.rowID) + " ELSE " + text(table.Key) + " END"
}
