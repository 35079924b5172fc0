package cascade

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
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

	Noted []reachedTable `json:"-"` // tables of the data map to which triggers may write; only on SQLite
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

	shares bool     // several rows may have the same key, because only the data map has it
	rowID  []string // see live.Table.RowID; only on SQLite
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
	OnUpdate     bool     `json:"on_update"` // it acts if a referenced column changes; otherwise if the row is deleted
	Follows      bool     `json:"follows"`   // ON UPDATE CASCADE
	Sets         []string `json:"sets"`      // nil if the action deletes the row
	Readable     bool     `json:"readable"`  // this role may read both tables
}

// maxChain is the number of foreign keys in a chain. Longer chains are not followed.
const maxChain = 6

// Setting describes rows whose columns foreign keys set because the steps delete or change rows. It has one chain of
// keys for each way from such a row. The last key of a chain sets the columns. The keys before it delete rows or set
// the columns to which the next key refers.
type Setting struct {
	Key    reachedKey // the last key of the first chain
	Chains [][]reachedKey

	OfTable bool           // the rows of a table, each once; otherwise the rows of one chain into a mapped table
	Gone    [][]reachedKey // the chains whose keys delete rows of the table; nil without OfTable
}

// settings returns the settings of tables, and those of single chains into tables of the data map. The first key of a
// chain refers to a table of the data map from which a step deletes rows, or a column of which a step writes.
func (r *Reach) settings(w *rows.Writer, steps []datamap.Step) (all []Setting) {
	gone := map[string][][]reachedKey{}
	var chains [][]reachedKey
	var follow func(chain []reachedKey)
	follow = func(chain []reachedKey) {
		last := chain[len(chain)-1]
		if last.Sets != nil {
			chains = append(chains, slices.Clone(chain))
		} else {
			gone[last.ID] = append(gone[last.ID], slices.Clone(chain))
		}
		for _, key := range r.Keys {
			next, acts := key.actsOn(w, last.Sets == nil, last.Sets)
			if len(chain) < maxChain && key.ParentID == last.ID && acts {
				follow(append(chain, next))
			}
		}
	}
	for _, key := range r.Keys {
		var written []string
		deletes := false
		for _, step := range steps {
			if slices.Contains(key.ParentMapped, step.Target) {
				written, deletes = append(written, writtenBy(step)...), deletes || step.Strategy == domain.StrategyDelete
			}
		}
		if first, acts := key.actsOn(w, deletes, written); acts {
			follow([]reachedKey{first})
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

// actsOn reports whether the key acts if rows of its parent are deleted, or if the given columns of them change. It
// returns the key with the columns that it then sets: ON UPDATE CASCADE changes only those that refer to a changed
// column.
func (k reachedKey) actsOn(w *rows.Writer, deletes bool, written []string) (acting reachedKey, acts bool) {
	if !k.OnUpdate || !k.Readable {
		return k, deletes && k.Readable
	}
	var sets []string
	for i, name := range k.Referenced {
		if containsName(w, written, name) {
			sets = append(sets, k.Columns[i])
		}
	}
	if k.Follows {
		k.Sets = sets
	}
	return k, len(sets) > 0
}

func containsName(w *rows.Writer, names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return w.Dialect.SameName(n, name) })
}

// writtenBy returns the columns that a step overwrites or clears.
func writtenBy(step datamap.Step) []string {
	if step.Strategy != domain.StrategyAnonymize {
		return nil
	}
	return slices.Concat(step.Columns, step.ClearedColumns, step.Expired)
}

// acts reports whether the steps must run one by one and be verified: a trigger may run, or a foreign key acts on a
// change of a column.
func (r *Reach) acts() bool {
	return r.Triggers || slices.ContainsFunc(r.Keys, func(key reachedKey) bool { return key.OnUpdate })
}

// completeKeys adds the primary keys that only the data map has. Without a key, a row that was deleted and another one
// that was inserted look like the same row.
func (r *Reach) completeKeys(m datamap.DataMap) {
	for _, tables := range [][]reachedTable{r.Tables, r.Noted} {
		for i, table := range tables {
			for _, name := range table.Direct {
				if mapped, _ := m.Table(name); len(tables[i].Key) == 0 {
					tables[i].Key, tables[i].shares = mapped.PrimaryKey, true
				}
			}
		}
	}
}

// stateBefore is the state before the steps of an erasure.
type stateBefore struct {
	*Reach
	counters bool                // the database counts the rows that a transaction deletes
	deleted  map[string][4]int64 // by the id of the table, see dialect.deleted
	own      map[string]int64    // the number of rows that the delete steps cover, by table of the data map
	set      []int64             // the numbers of rows of Reach.Settings
}

// cachedReach is the last Reach of a Schema.
type cachedReach struct {
	*Reach
	schema      *live.Schema
	fingerprint string // of the definitions of the visited tables
	steps       []datamap.Step
	watchText
}

// readBefore reads the state before the steps. The parameter key is the subject's key. readBefore uses one statement,
// except if the definitions of the tables have changed.
func (c *Store) readBefore(
	ctx context.Context, query conn.Query, schema *live.Schema, steps []datamap.Step, key []any,
) (*stateBefore, error) {
	if cached := c.reach.Load(); cached != nil && cached.schema == schema &&
		slices.EqualFunc(cached.steps, steps, rows.HaveSameText) {
		reading, fingerprint, err := cached.read(ctx, query, steps, key)
		if err != nil || fingerprint == cached.fingerprint {
			return reading, err
		}
	}
	reach, err := c.readReach(ctx, query, schema, steps)
	if err != nil {
		return nil, err
	}
	reach.completeKeys(c.writer.DataMap)
	reach.Settings = reach.settings(c.writer, steps)
	tables := make([]string, len(reach.Tables))
	for i, table := range reach.Tables {
		tables[i] = table.ID
	}
	cached := &cachedReach{Reach: reach, schema: schema, steps: slices.Clone(steps)}
	cached.watchText = watchText{writer: c.writer, schema: schema, steps: cached.steps}
	cached.build(reach, tables)
	reading, fingerprint, err := cached.read(ctx, query, steps, key)
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

func (c *cachedReach) read(
	ctx context.Context, query conn.Query, steps []datamap.Step, key []any,
) (*stateBefore, string, error) {
	names := deletedTables(steps)
	own, reading := make([]int64, len(names)), &stateBefore{Reach: c.Reach, own: map[string]int64{}}
	reading.set = make([]int64, len(c.Settings))
	var fingerprint, counters string
	var keysAct bool
	targets := conn.AddTargets([]any{&fingerprint, &keysAct, &reading.counters, &counters}, own)
	targets = conn.AddTargets(targets, reading.set)
	err := query(ctx, func(rows *sql.Rows) error {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		return json.Unmarshal([]byte(counters), &reading.deleted)
	}, c.text, c.args(steps, key)...)
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
