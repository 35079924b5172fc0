package cascade

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Store reads the state before the steps of erasures. It is safe for concurrent use.
type Store struct {
	writer *rows.Writer
	own    dialect
	graph  atomic.Pointer[graph]       // see readReach; only on SQLite
	reach  atomic.Pointer[cachedReach] // see readBefore
}

// New returns a Store for the tables of the writer.
func New(w *rows.Writer) *Store { return &Store{writer: w, own: dialectOf(w.Dialect)} }

// Reach describes the tables whose rows the database may delete or change because an erasure deletes rows.
type Reach struct {
	Tables []reachedTable `json:"tables"` // tables and partitions, but no partitioned tables
	Keys   []reachedKey   `json:"keys"`   // the foreign keys that lead to these tables, and those that set columns

	Triggers bool `json:"triggers"` // a trigger or a rule may run
	Undoes   bool `json:"undoes"`   // such a trigger, or one that it sets off, may roll back some of its changes

	Visited  []string  `json:"visited"` // the ids of the tables whose keys and triggers were followed
	Settings []Setting `json:"-"`
}

// reachedTable is a table or a partition. Table, Name, Mapped and Key describe its topmost table, the root.
type reachedTable struct {
	ID       string   `json:"id"`
	Root     string   `json:"root"`  // the id of the root
	Split    bool     `json:"split"` // the table is not its root
	Name     string   `json:"name"`  // for messages and results
	Table    string   `json:"table"` // for statements
	Mapped   []string `json:"mapped"`
	Direct   []string `json:"direct"`   // the part of Mapped that denotes the table itself, and not a view of it
	Key      []string `json:"key"`      // the primary key; if the database has none, that of the data map
	Readable bool     `json:"readable"` // this role may read it

	Inserted bool `json:"-"` // a trigger may insert rows
}

// reachedKey is a foreign key with an action.
type reachedKey struct {
	ID           string   `json:"id"` // the id of the table
	ParentID     string   `json:"parent_id"`
	Name         string   `json:"name"` // the name of the table for messages and results
	Table        string   `json:"table"`
	Parent       string   `json:"parent"`
	Mapped       []string `json:"mapped"`
	ParentMapped []string `json:"parent_mapped"`
	Columns      []string `json:"columns"`
	Referenced   []string `json:"referenced"`
	Sets         []string `json:"sets"`     // nil if the action deletes the row
	Readable     bool     `json:"readable"` // this role may read both tables
}

// maxChain is the number of foreign keys in a chain. Longer chains are not followed.
const maxChain = 6

// Setting describes rows whose columns foreign keys set because the steps delete rows. It has one chain of keys for
// each way from a deleted row. The last key of a chain sets the columns. The keys before it delete rows.
type Setting struct {
	Key    reachedKey // the last key of the first chain
	Chains [][]reachedKey

	OfTable bool           // the rows of a table, each once; otherwise the rows of one chain into a mapped table
	Gone    [][]reachedKey // the chains whose keys delete rows of the table; nil without OfTable
}

// settings returns the settings of tables, and those of single chains into tables of the data map. The first key of a
// chain refers to a table of the data map with one of the given names.
func (r *Reach) settings(deleted []string) (all []Setting) {
	gone := map[string][][]reachedKey{}
	var chains [][]reachedKey
	var follow func(chain []reachedKey)
	follow = func(chain []reachedKey) {
		last := chain[len(chain)-1]
		if last.Sets != nil {
			chains = append(chains, slices.Clone(chain))
			return
		}
		gone[last.ID] = append(gone[last.ID], slices.Clone(chain))
		for _, key := range r.Keys {
			if len(chain) < maxChain && key.ParentID == last.ID && key.Readable {
				follow(append(chain, key))
			}
		}
	}
	for _, key := range r.Keys {
		if key.Readable && slices.ContainsFunc(key.ParentMapped, func(name string) bool {
			return slices.Contains(deleted, name)
		}) {
			follow([]reachedKey{key})
		}
	}
	for _, chain := range chains {
		last := chain[len(chain)-1]
		i := slices.IndexFunc(all, func(s Setting) bool { return s.OfTable && s.Key.ID == last.ID })
		if i < 0 {
			i, all = len(all), append(all, Setting{Key: last, OfTable: true, Gone: gone[last.ID]})
		}
		all[i].Chains = append(all[i].Chains, chain)
		if last.Mapped != nil {
			all = append(all, Setting{Key: last, Chains: [][]reachedKey{chain}})
		}
	}
	return all
}

// completeKeys adds the primary keys that only the data map has. Without a key, a row that was deleted and another one
// that was inserted look like the same row.
func (r *Reach) completeKeys(m datamap.DataMap) {
	for i, table := range r.Tables {
		for _, name := range table.Direct {
			if mapped, _ := m.Table(name); len(r.Tables[i].Key) == 0 {
				r.Tables[i].Key = mapped.PrimaryKey
			}
		}
	}
}

// stateBefore is the state before the steps of an erasure.
type stateBefore struct {
	*Reach
	counters bool                // the database counts the rows that a transaction deletes
	deleted  map[string][2]int64 // by the id of the table: the counter, and the number of the storage
	own      map[string]int64    // the number of rows that the delete steps cover, by table of the data map
	set      []int64             // the numbers of rows of Reach.Settings
}

// cachedReach is the last Reach of a Schema.
type cachedReach struct {
	*Reach
	schema      *live.Schema
	fingerprint string // of the definitions of the visited tables
	steps       []datamap.Step
	text        string // the statement Watch
}

// readBefore reads the state before the steps. The parameter key is the subject's key. readBefore uses one statement,
// except if the definitions of the tables have changed.
func (c *Store) readBefore(
	ctx context.Context, query conn.Query, schema *live.Schema, steps []datamap.Step, key []any,
) (*stateBefore, error) {
	if cached := c.reach.Load(); cached != nil && cached.schema == schema &&
		slices.EqualFunc(cached.steps, steps, rows.HaveSameText) {
		reading, fingerprint, err := cached.read(ctx, query, key)
		if err != nil || fingerprint == cached.fingerprint {
			return reading, err
		}
	}
	reach, err := c.readReach(ctx, query, schema, steps)
	if err != nil {
		return nil, err
	}
	reach.completeKeys(c.writer.DataMap)
	reach.Settings = reach.settings(deletedTables(steps))
	tables := make([]string, len(reach.Tables))
	for i, table := range reach.Tables {
		tables[i] = table.ID
	}
	cached := &cachedReach{Reach: reach, schema: schema, steps: slices.Clone(steps)}
	cached.text = watchStatement(c.writer, steps, reach.Visited, tables, reach.Triggers, reach.Settings)
	reading, fingerprint, err := cached.read(ctx, query, key)
	if err == nil {
		cached.fingerprint = fingerprint
		c.reach.Store(cached)
	}
	return reading, err
}

// readReach reads the tables to which the steps lead.
func (c *Store) readReach(
	ctx context.Context, query conn.Query, schema *live.Schema, steps []datamap.Step,
) (*Reach, error) {
	reach := &Reach{}
	text := c.own.reachText(c.writer, steps)
	if text == "" {
		known := c.graph.Load()
		if known == nil || known.Schema != schema {
			known = c.newGraph(schema)
			c.graph.Store(known)
		}
		known.reach(c.writer, steps, reach)
		return reach, nil
	}
	err := query(ctx, func(rows *sql.Rows) error {
		var document string
		if err := rows.Scan(&document); err != nil {
			return err
		}
		return json.Unmarshal([]byte(document), reach)
	}, text)
	return reach, err
}

func (c *cachedReach) read(ctx context.Context, query conn.Query, key []any) (*stateBefore, string, error) {
	names := deletedTables(c.steps)
	own, reading := make([]int64, len(names)), &stateBefore{Reach: c.Reach, own: map[string]int64{}}
	reading.set = make([]int64, len(c.Settings))
	var fingerprint, counters string
	var keysAct bool
	targets := conn.AddTargets([]any{&fingerprint, &keysAct, &reading.counters, &counters}, own)
	targets = conn.AddTargets(targets, reading.set)
	if len(names) == 0 {
		key = nil
	}
	err := query(ctx, func(rows *sql.Rows) error {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		return json.Unmarshal([]byte(counters), &reading.deleted)
	}, c.text, key...)
	for i, name := range names {
		reading.own[name] = own[i]
	}
	if !keysAct {
		clear(reading.set)
	}
	return reading, fingerprint, err
}

// deletedTables returns the tables of the delete steps, each once.
func deletedTables(steps []datamap.Step) (names []string) {
	for _, step := range steps {
		if step.Strategy == domain.StrategyDelete && !slices.Contains(names, step.Target) {
			names = append(names, step.Target)
		}
	}
	return names
}

// watchStatement returns the statement that reads the state before the steps. The parameters of the statement are the
// subject's key if there are delete steps. The columns of its row are:
//
//   - a hash of the definitions that Reach has read; the parameter visited holds the ids of their tables
//   - whether foreign keys act, and whether the database counts deleted rows
//   - for each table in the parameter tables, what stateBefore.deleted has, as a JSON object of arrays by id
//   - for each table of deletedTables, the number of rows that its delete steps cover
//   - for each setting, the number of its rows
//
// If triggers is true, the hash also covers the list of all tables.
func watchStatement(
	w *rows.Writer, steps []datamap.Step, visited, tables []string, triggers bool, settings []Setting,
) string {
	columns := []string{dialectOf(w.Dialect).watching(visited, tables, triggers)}
	for _, name := range deletedTables(steps) {
		columns = append(columns, "(SELECT count(*) FROM "+syntax.QuoteTable(name)+" AS t0 WHERE "+
			coveredBy(w, steps, name, nil)+")")
	}
	for _, setting := range settings {
		columns = append(columns, setRows(w, steps, setting))
	}
	return "SELECT " + strings.Join(columns, ", ")
}

// coveredBy returns the condition that a delete step covers the row t0 of a table, or that a step overwrites or clears
// one of the given columns of the row. The parameters are the subject's key.
func coveredBy(w *rows.Writer, steps []datamap.Step, name string, columns []string) string {
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
			conditions = append(conditions, "("+w.RowsOf(table, path, 0)+")")
		}
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// setRows returns the expression that counts the rows of a setting.
func setRows(w *rows.Writer, steps []datamap.Step, setting Setting) string {
	var set []string
	for _, chain := range setting.Chains {
		last, conditions := chain[len(chain)-1], []string{hangsOnDeleted(w, steps, chain, "t0")}
		for _, name := range last.Mapped {
			conditions = append(conditions, "NOT COALESCE("+coveredBy(w, steps, name, last.Sets)+", FALSE)")
		}
		set = append(set, strings.Join(conditions, " AND "))
	}
	text := "(SELECT count(*) FROM " + setting.Chains[0][len(setting.Chains[0])-1].Table + " AS t0 WHERE (" +
		strings.Join(set, " OR ") + ")"
	for _, chain := range setting.Gone {
		text += " AND NOT " + hangsOnDeleted(w, steps, chain, "t0")
	}
	return text + ")"
}

// hangsOnDeleted returns the condition that a row refers to a row that the steps delete, over a chain of foreign keys.
func hangsOnDeleted(w *rows.Writer, steps []datamap.Step, chain []reachedKey, child string) string {
	key, parent := chain[len(chain)-1], "p"+syntax.Placeholder(len(chain))[1:]
	var conditions []string
	for i, name := range key.Columns {
		conditions = append(conditions, child+"."+syntax.Quote(name)+" = "+parent+"."+syntax.Quote(key.Referenced[i]))
	}
	if len(chain) > 1 {
		conditions = append(conditions, hangsOnDeleted(w, steps, chain[:len(chain)-1], parent))
	} else {
		var deleted []string
		for _, name := range key.ParentMapped {
			deleted = append(deleted, "EXISTS (SELECT 1 FROM "+key.Parent+" AS t0 WHERE "+sameRow(key, parent)+
				" AND "+coveredBy(w, steps, name, nil)+")")
		}
		conditions = append(conditions, "("+strings.Join(append(deleted, "FALSE"), " OR ")+")")
	}
	return "EXISTS (SELECT 1 FROM " + key.Parent + " AS " + parent + " WHERE " + strings.Join(conditions, " AND ") + ")"
}

func sameRow(key reachedKey, parent string) string {
	return syntax.Join(key.Referenced, " AND ", func(name string) string {
		return "t0." + syntax.Quote(name) + " = " + parent + "." + syntax.Quote(name)
	})
}
