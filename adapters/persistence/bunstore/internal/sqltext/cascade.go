package sqltext

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// cascades are the statements that find out which rows the database deletes besides the steps of an erasure, because of
// foreign keys (ON DELETE) and triggers.
type cascades interface {
	// Reach returns the statement that reads a JSON document about the tables to which the steps lead. Package catalog
	// reads the document, see catalog.Reach.
	Reach(w *Writer, steps []datamap.Step) string

	// watching returns the first columns of the statement Watch.
	watching(visited, tables []string, triggers bool) string

	// ReachedTables, ReachedKeys and ReachedTriggers return the statements that read what Reach leaves out: the tables of
	// a schema, their foreign keys with an action, and the triggers. They return "" if Reach leaves nothing out.
	ReachedTables(schema string) string
	ReachedKeys(schema string) string
	ReachedTriggers(schema string) string

	// Deleted returns the statement that reads how many rows this transaction has deleted from tables, and a number of the
	// storage of each table. This number changes if a statement empties the table with TRUNCATE, which the counters omit.
	// Its parameter is a JSON array with the ids of the tables. Deleted returns "" if the database has no such counters.
	Deleted() string

	// LockedWholly returns the statement that reads the ids of the tables that this transaction has locked against all
	// others, as TRUNCATE does. It is called only if Deleted returns a statement.
	LockedWholly() string

	// beforeDeletion returns the statement that makes a query see its tables as they are before the statements that
	// follow, whenever its rows are fetched, and the statements that fetch the rows and end the query. They are "" if the
	// database has no such queries.
	beforeDeletion(query string) (declare, fetch, end string)
}

// DeletedTables returns the tables of the delete steps, each once.
func DeletedTables(steps []datamap.Step) (names []string) {
	for _, step := range steps {
		if step.Strategy == domain.StrategyDelete && !slices.Contains(names, step.Target) {
			names = append(names, step.Target)
		}
	}
	return names
}

// Watch returns the statement that reads the state before the steps. The parameters of the statement are the subject's
// key if there are delete steps. The columns of its row are:
//
//   - a hash of the definitions that Reach has read; the parameter visited holds the ids of their tables
//   - whether foreign keys act, and whether the database counts deleted rows
//   - for each table in the parameter tables, what Deleted reads, as a JSON object of arrays by id
//   - for each table in DeletedTables, the number of rows that its delete steps cover
//   - for each setting, the number of its rows
//
// If triggers is true, the hash also covers the list of all tables.
func (w *Writer) Watch(
	steps []datamap.Step, visited, tables []string, triggers bool, settings []Setting,
) string {
	columns := []string{w.Dialect.watching(visited, tables, triggers)}
	for _, name := range DeletedTables(steps) {
		columns = append(columns, "(SELECT count(*) FROM "+quoteTable(name)+" AS t0 WHERE "+w.coveredBy(steps, name, nil)+")")
	}
	for _, setting := range settings {
		columns = append(columns, w.setRows(steps, setting))
	}
	return "SELECT " + strings.Join(columns, ", ")
}

// coveredBy returns the condition that a delete step covers the row t0 of a table, or that a step overwrites or clears
// one of the given columns of the row. The parameters are the subject's key.
func (w *Writer) coveredBy(steps []datamap.Step, name string, columns []string) string {
	table, _ := w.DataMap.Table(name)
	conditions := []string{"FALSE"}
	for _, step := range steps {
		changes := step.Strategy == domain.StrategyAnonymize && slices.ContainsFunc(columns, func(column string) bool {
			return slices.ContainsFunc(slices.Concat(step.Columns, step.ClearedColumns), func(changed string) bool {
				return w.Dialect.SameName(changed, column)
			})
		})
		if step.Target == name && (changes || step.Strategy == domain.StrategyDelete) {
			path, _ := w.DataMap.PathVia(name, step.Via)
			conditions = append(conditions, "("+w.rowsOf(table, path, 0)+")")
		}
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// ForeignKey is a foreign key with an action (ON DELETE) that leads from deleted rows of Parent to rows of Table. The
// names are quoted.
type ForeignKey struct {
	Table, Parent       string
	Columns, Referenced []string
	Mapped              []string // the tables of the data map that hold the rows of Table
	ParentMapped        []string
	Sets                []string // the columns that the action sets; nil if it deletes the row
}

// Setting describes rows of a table whose columns foreign keys set because the steps delete rows. See catalog.Setting.
type Setting struct {
	Chains [][]ForeignKey // the last key of each chain sets columns of the row; all keys before it delete rows
	Gone   [][]ForeignKey // chains whose keys delete rows of the table: these rows do not count
}

// setRows returns the expression that counts the rows of a setting.
func (w *Writer) setRows(steps []datamap.Step, setting Setting) string {
	var set []string
	for _, chain := range setting.Chains {
		last, conditions := chain[len(chain)-1], []string{w.hangsOnDeleted(steps, chain, "t0")}
		for _, name := range last.Mapped {
			conditions = append(conditions, "NOT COALESCE("+w.coveredBy(steps, name, last.Sets)+", FALSE)")
		}
		set = append(set, strings.Join(conditions, " AND "))
	}
	text := "(SELECT count(*) FROM " + setting.Chains[0][len(setting.Chains[0])-1].Table + " AS t0 WHERE (" +
		strings.Join(set, " OR ") + ")"
	for _, chain := range setting.Gone {
		text += " AND NOT " + w.hangsOnDeleted(steps, chain, "t0")
	}
	return text + ")"
}

// hangsOnDeleted returns the condition that a row refers to a row that the steps delete, over a chain of foreign keys.
func (w *Writer) hangsOnDeleted(steps []datamap.Step, chain []ForeignKey, child string) string {
	key, parent := chain[len(chain)-1], "p"+placeholder(len(chain))[1:]
	var conditions []string
	for i, name := range key.Columns {
		conditions = append(conditions, child+"."+Quote(name)+" = "+parent+"."+Quote(key.Referenced[i]))
	}
	if len(chain) > 1 {
		conditions = append(conditions, w.hangsOnDeleted(steps, chain[:len(chain)-1], parent))
	} else {
		var deleted []string
		for _, name := range key.ParentMapped {
			deleted = append(deleted, "EXISTS (SELECT 1 FROM "+key.Parent+" AS t0 WHERE "+w.sameRow(key, parent)+
				" AND "+w.coveredBy(steps, name, nil)+")")
		}
		conditions = append(conditions, "("+strings.Join(append(deleted, "FALSE"), " OR ")+")")
	}
	return "EXISTS (SELECT 1 FROM " + key.Parent + " AS " + parent + " WHERE " + strings.Join(conditions, " AND ") + ")"
}

func (w *Writer) sameRow(key ForeignKey, parent string) string {
	var conditions []string
	for _, name := range key.Referenced {
		conditions = append(conditions, "t0."+Quote(name)+" = "+parent+"."+Quote(name))
	}
	return strings.Join(conditions, " AND ")
}

// Counted is a table whose rows are counted or compared. The names are quoted.
type Counted struct {
	Table string
	Key   []string // expressions that identify a row; nil if nothing does
}

// BeforeDeletion returns the statements of a query that reads the rows which the steps may delete, as they were before
// the steps. See cascades.beforeDeletion. A row of the query has the index of a table, and the JSON array of the row's
// key. For a table without a key, it has the number of all rows.
func (w *Writer) BeforeDeletion(tables []Counted) (declare, fetch, end string) {
	queries := make([]string, len(tables))
	for i, table := range tables {
		if table.Key == nil {
			queries[i] = fill(`SELECT {i} AS t, CAST(count(*) AS text) AS k FROM {table}`, "i", placeholder(i)[1:],
				"table", table.Table)
			continue
		}
		queries[i] = fill(`SELECT {i}, CAST(json_build_array({key}) AS text) FROM {table} AS t0
			WHERE CAST(xmax AS text) <> '0'`, "i", placeholder(i)[1:], "table", table.Table, "key", keyTexts(table.Key))
	}
	return w.Dialect.beforeDeletion(strings.Join(queries, " UNION ALL "))
}

func keyTexts(key []string) string {
	texts := make([]string, len(key))
	for i, name := range key {
		texts[i] = "CAST(t0." + Quote(name) + " AS text)"
	}
	return strings.Join(texts, ", ")
}

// CountRows returns the statement that counts the rows of a table.
func CountRows(table string) string { return "SELECT count(*) FROM " + table }

// KeysOf returns the statement that reads the keys of all rows of a SQLite table, as a JSON array of texts.
func KeysOf(table Counted) string {
	return "SELECT json_group_array(" + rowKey(table) + ") FROM " + table.Table
}

// Missing returns the statement that counts the keys in its parameter, a JSON array, of which the table has no row.
func (w *Writer) Missing(table Counted) string {
	if w.Dialect.Deleted() == "" {
		return fill(`SELECT count(*) FROM json_each($1) WHERE value NOT IN (SELECT {key} FROM {table})`,
			"key", rowKey(table), "table", table.Table)
	}
	comparisons := make([]string, len(table.Key))
	for i, name := range table.Key {
		comparisons[i] = "CAST(t0." + Quote(name) + " AS text) = k.value ->> " + placeholder(i)[1:]
	}
	return fill(`SELECT count(*) FROM jsonb_array_elements(CAST($1 AS jsonb)) AS k(value)
		WHERE NOT EXISTS (SELECT 1 FROM {table} AS t0 WHERE {same})`,
		"table", table.Table, "same", strings.Join(comparisons, " AND "))
}

// rowKey returns the expression for the key of a row of SQLite, as a text.
func rowKey(table Counted) string {
	if len(table.Key) == 0 {
		return "CAST(rowid AS text)"
	}
	parts := make([]string, len(table.Key))
	for i, name := range table.Key {
		parts[i] = "quote(" + Quote(name) + ")"
	}
	return strings.Join(parts, " || ',' || ")
}
