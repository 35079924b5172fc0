package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// LeadsOn reports whether the steps of an erasure may delete or change rows that they do not name, because of foreign
// keys or triggers.
func (c *Catalog) LeadsOn(steps []datamap.Step) bool {
	return slices.ContainsFunc(steps, func(step datamap.Step) bool {
		live := c.tables[step.Target]
		return step.Strategy != domain.StrategyRetain && live.acts || step.Strategy == domain.StrategyDelete && live.leads
	})
}

// Reach describes the tables whose rows the database may delete or change because an erasure deletes rows.
type Reach struct {
	Tables []ReachedTable `json:"tables"` // tables and partitions, but no partitioned tables
	Keys   []ReachedKey   `json:"keys"`   // the foreign keys that lead to these tables, and those that set columns

	Triggers bool `json:"triggers"` // a trigger or a rule may run
	Undoes   bool `json:"undoes"`   // such a trigger, or one that it sets off, may roll back some of its changes

	Visited  []string  `json:"visited"` // the ids of the tables whose keys and triggers were followed
	Settings []Setting `json:"-"`
}

// ReachedTable is a table or a partition. Table, Name, Mapped and Key describe its topmost table, the root.
type ReachedTable struct {
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

// ReachedKey is a foreign key with an action.
type ReachedKey struct {
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

// ForeignKey returns the key for a statement.
func (k ReachedKey) ForeignKey() sqltext.ForeignKey {
	return sqltext.ForeignKey{
		Table: k.Table, Parent: k.Parent, Columns: k.Columns, Referenced: k.Referenced,
		Mapped: k.Mapped, ParentMapped: k.ParentMapped, Sets: k.Sets,
	}
}

// maxChain is the number of foreign keys in a chain. Longer chains are not followed.
const maxChain = 6

// Setting describes rows whose columns foreign keys set because the steps delete rows. It has one chain of keys for
// each way from a deleted row. The last key of a chain sets the columns. The keys before it delete rows.
type Setting struct {
	Key    ReachedKey // the last key of the first chain
	Chains [][]ReachedKey

	OfTable bool           // the rows of a table, each once; otherwise the rows of one chain into a mapped table
	Gone    [][]ReachedKey // the chains whose keys delete rows of the table; nil without OfTable
}

// settings returns the settings of tables, and those of single chains into tables of the data map. The first key of a
// chain refers to a table of the data map with one of the given names.
func (r *Reach) settings(deleted []string) (all []Setting) {
	gone := map[string][][]ReachedKey{}
	var chains [][]ReachedKey
	var follow func(chain []ReachedKey)
	follow = func(chain []ReachedKey) {
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
			follow([]ReachedKey{key})
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
			all = append(all, Setting{Key: last, Chains: [][]ReachedKey{chain}})
		}
	}
	return all
}

func foreignKeys(chains [][]ReachedKey) [][]sqltext.ForeignKey {
	keys := make([][]sqltext.ForeignKey, len(chains))
	for i, chain := range chains {
		for _, key := range chain {
			keys[i] = append(keys[i], key.ForeignKey())
		}
	}
	return keys
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

// Reading is the state before the steps of an erasure.
type Reading struct {
	*Reach
	Counters bool                // the database counts the rows that a transaction deletes
	Deleted  map[string][2]int64 // by the id of the table: the counter, and the number of the storage
	Own      map[string]int64    // the number of rows that the delete steps cover, by table of the data map
	Set      []int64             // the numbers of rows of Reach.Settings
}

// cachedReach is the last Reach of a Catalog.
type cachedReach struct {
	*Reach
	fingerprint string // of the definitions of the visited tables
	steps       []datamap.Step
	text        string // the statement Watch
}

// ReadBefore reads the state before the steps. The parameter key is the subject's key. ReadBefore uses one statement,
// except if the definitions of the tables have changed.
func (c *Cache) ReadBefore(
	ctx context.Context, query conn.Query, live *Catalog, steps []datamap.Step, key []any,
) (*Reading, error) {
	if cached := live.reach.Load(); cached != nil && slices.EqualFunc(cached.steps, steps, sqltext.HaveSameText) {
		reading, fingerprint, err := cached.read(ctx, query, key)
		if err != nil || fingerprint == cached.fingerprint {
			return reading, err
		}
	}
	reach, err := c.readReach(ctx, query, live, steps)
	if err != nil {
		return nil, err
	}
	reach.completeKeys(c.text.DataMap)
	reach.Settings = reach.settings(sqltext.DeletedTables(steps))
	settings, tables := make([]sqltext.Setting, len(reach.Settings)), make([]string, len(reach.Tables))
	for i, setting := range reach.Settings {
		settings[i] = sqltext.Setting{Chains: foreignKeys(setting.Chains), Gone: foreignKeys(setting.Gone)}
	}
	for i, table := range reach.Tables {
		tables[i] = table.ID
	}
	cached := &cachedReach{Reach: reach, steps: slices.Clone(steps)}
	cached.text = c.text.Watch(steps, reach.Visited, tables, reach.Triggers, settings)
	reading, fingerprint, err := cached.read(ctx, query, key)
	if err == nil {
		cached.fingerprint = fingerprint
		live.reach.Store(cached)
	}
	return reading, err
}

// readReach reads the tables to which the steps lead.
func (c *Cache) readReach(
	ctx context.Context, query conn.Query, live *Catalog, steps []datamap.Step,
) (*Reach, error) {
	reach := &Reach{}
	text := c.text.Dialect.Reach(c.text, steps)
	if text == "" {
		known := live.graph.Load()
		if known == nil {
			var err error
			if known, err = c.readGraph(ctx, query); err != nil {
				return nil, err
			}
			live.graph.Store(known)
		}
		known.reach(c.text, steps, reach)
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

func (c *cachedReach) read(ctx context.Context, query conn.Query, key []any) (*Reading, string, error) {
	names := sqltext.DeletedTables(c.steps)
	own, reading := make([]int64, len(names)), &Reading{Reach: c.Reach, Own: map[string]int64{}}
	reading.Set = make([]int64, len(c.Settings))
	var fingerprint, counters string
	var keysAct bool
	targets := []any{&fingerprint, &keysAct, &reading.Counters, &counters}
	for i := range own {
		targets = append(targets, &own[i])
	}
	for i := range reading.Set {
		targets = append(targets, &reading.Set[i])
	}
	if len(names) == 0 {
		key = nil
	}
	err := query(ctx, func(rows *sql.Rows) error {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		return json.Unmarshal([]byte(counters), &reading.Deleted)
	}, c.text, key...)
	for i, name := range names {
		reading.Own[name] = own[i]
	}
	if !keysAct {
		clear(reading.Set)
	}
	return reading, fingerprint, err
}
