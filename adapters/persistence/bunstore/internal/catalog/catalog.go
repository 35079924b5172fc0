// Package catalog reads the system catalog of the database for the tables of the application. It reads the parts on
// which an erasure, an export or a rectification depends: triggers, rules and views, row-level security, types and
// privileges.
package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Catalog holds the properties of the data map's tables on which an erasure depends, as the database defines them. The
// database computes a fingerprint (a hash) of these properties. A Catalog is valid while the fingerprint is the same.
type Catalog struct {
	Fingerprint string
	cache       *Cache
	inFront     string // a temporary table with the name of a table of habeas
	volatile    bool   // not to be cached: the fingerprint does not cover all properties
	tables      map[string]table
	graph       atomic.Pointer[graph]       // see Cache.readReach; only on SQLite
	reach       atomic.Pointer[cachedReach] // see Cache.ReadBefore
}

// KeepsAny reports whether the database may keep or restore data that an erasure deletes or overwrites, in any table of
// the data map. An erasure must then verify all tables, because a trigger of one table may restore data of another
// table.
func (c *Catalog) KeepsAny() bool {
	for _, table := range c.tables {
		if table.keeps {
			return true
		}
	}
	return false
}

// Copies reports whether a trigger, a rule or a generated column may copy a value from one column of a row to another
// one, in any table of the data map.
func (c *Catalog) Copies() bool {
	for _, table := range c.tables {
		if table.copies {
			return true
		}
	}
	return false
}

// table describes a table or a view of the database.
type table struct {
	hides   string            // why the database may hide rows from the store; empty if it does not
	keeps   bool              // the database may keep deleted data, for example by triggers, rules, a view or child tables
	moves   bool              // the definition can change without a change of the fingerprint, for example of a view
	kind    string            // such as "a foreign table", if its rows cannot be locked
	remote  bool              // the database cannot say which transaction has written a row
	types   map[string]string // the types of its columns, except generated columns
	notNull []string          // the names of the NOT NULL columns
	writes  writeTargets      // the tables to which its triggers write
	copies  bool              // it has triggers, rules or generated columns, which may copy a value within a row
	temp    bool              // it is a temporary table or view, which only this connection sees
	hidden  []string          // columns that only the table below the view, or an inheriting table, has
	mixes   string            // why SQLite may confuse subjects; see conversion
	numeric []numericColumn   // the numeric columns for texts of the subject's key; see numericColumns
	acts    bool              // a trigger or a rule may act when its rows change
	leads   bool              // foreign keys act on other rows when its rows are deleted
}

// Tells reports whether the database can identify the transaction that has written a row of the table. It returns false
// for a foreign table, for example.
func (c *Catalog) Tells(table string) bool { return !c.tables[table].remote }

// Types returns the types of the columns of a table by column name. It omits generated columns.
func (c *Catalog) Types(table string) map[string]string { return c.tables[table].types }

// Cache reads a Catalog from the database, and keeps it until the fingerprint (a hash of the table definitions)
// changes. It is safe for concurrent use.
type Cache struct {
	text            *sqltext.Writer
	trustRowFilters bool // see bunstore.Options
	logger          *slog.Logger
	warned          sync.Map // the keys of the warnings that were logged
	last            atomic.Pointer[Catalog]
}

// NewCache returns an empty cache. The logger receives the warnings about triggers.
func NewCache(text *sqltext.Writer, trustRowFilters bool, logger *slog.Logger) *Cache {
	return &Cache{text: text, trustRowFilters: trustRowFilters, logger: logger}
}

// Last returns the catalog that was read last. It returns nil if no catalog was read yet, or if the last catalog must
// not be cached.
func (c *Cache) Last() *Catalog {
	if last := c.last.Load(); last != nil && !last.volatile {
		return last
	}
	return nil
}

// Known returns the cached catalog if it has this fingerprint, or nil.
func (c *Cache) Known(fingerprint string) *Catalog {
	if last := c.Last(); last != nil && last.Fingerprint == fingerprint {
		return last
	}
	return nil
}

// Read reads the catalog from the database and caches it. The caller has read the fingerprint immediately before. If
// the fingerprint is empty, Read does not cache the catalog.
func (c *Cache) Read(ctx context.Context, query conn.Query, fingerprint string) (*Catalog, error) {
	read := &Catalog{Fingerprint: fingerprint, cache: c, volatile: fingerprint == "", tables: map[string]table{}}
	for _, touched := range c.text.Touched {
		live, err := c.inspect(ctx, query, touched)
		if err != nil {
			return nil, err
		}
		read.tables[touched.Name] = live
		read.volatile = read.volatile || live.moves
		c.warnOfCopies(ctx, touched, live)
	}
	if err := c.readInFront(ctx, query, read); err != nil {
		return nil, err
	}
	for _, touched := range c.text.Touched {
		live := read.tables[touched.Name]
		live.mixes, live.numeric = read.conversion(touched), read.numericColumns(touched)
		read.tables[touched.Name] = live
	}
	c.last.Store(read)
	return read, nil
}

// inspect reads the definition of a table. If the table does not exist, the result has no types.
func (c *Cache) inspect(ctx context.Context, query conn.Query, touched datamap.Table) (live table, err error) {
	dialect, name := c.text.Dialect, touched.Name
	schemas := []string{""}
	if text := dialect.Schemas(name); text != "" {
		if schemas, err = query.Texts(ctx, text); err != nil {
			return live, err
		}
	}
	quotes := dialect.Quotes()
	for _, schema := range schemas {
		text, parameter := dialect.Inspection(schema, name)
		var read definition
		err := query(ctx, func(rows *sql.Rows) error { return live.scan(rows, quotes, &read) }, text, parameter)
		if err != nil || live.types == nil {
			if err != nil {
				return live, err
			}
			continue
		}
		live.moves = live.moves || schema != "" && schema != "main"
		if read.view.Valid && !touched.Trusted && live.hides == "" {
			live.hides, err = c.hidesOfView(ctx, query, schema, touched, read)
		}
		live.nameAsMapped(dialect, touched)
		return live, err
	}
	return live, nil
}

// definition holds the parts of the definition of a view from which a table derives its properties.
type definition struct {
	view  sql.NullString  // the SQL of the view, or NULL for a table
	plain map[string]bool // on PostgreSQL: by column, whether the view is plain in this column

	triggered bool // it has triggers or rules
}

// scan reads the definition of a table from a row of the statement that Dialect.Inspection returns.
func (live *table) scan(rows *sql.Rows, quotes map[byte]byte, read *definition) error {
	var (
		special   bool           // the database may keep deleted data for another reason than triggers
		secured   bool           // row-level security is active
		kind      sql.NullString // a kind of table whose rows cannot be locked
		generated bool           // it has generated columns

		// JSON: the types by column, the NOT NULL columns, the triggers, see definition.plain and table.hidden
		columns, notNull, triggerTexts, plain, hidden sql.NullString
	)
	if err := rows.Scan(&special, &secured, &read.view, &columns, &notNull, &kind, &triggerTexts, &live.leads, &generated,
		&live.temp, &plain, &hidden); err != nil {
		return err
	}
	var triggers []trigger
	for _, list := range []struct {
		text   sql.NullString
		target any
	}{
		{columns, &live.types},
		{notNull, &live.notNull},
		{triggerTexts, &triggers},
		{plain, &read.plain},
		{hidden, &live.hidden},
	} {
		if list.text.String == "" {
			continue
		}
		if err := json.Unmarshal([]byte(list.text.String), list.target); err != nil {
			return err
		}
	}
	live.acts = len(triggers) > 0
	read.triggered = live.acts
	live.copies = read.triggered || generated
	live.keeps, live.writes = special || live.copies, writesOf(triggers, quotes)
	live.moves, live.kind, live.remote = read.view.Valid, kind.String, read.view.Valid || kind.Valid
	if secured {
		live.hides = rowSecurity
	}
	return nil
}

// nameAsMapped adds the types of the columns by the names that they have in the data map. A database can have another
// name for a column: PostgreSQL cuts long names, and SQLite ignores case.
func (live *table) nameAsMapped(dialect sqltext.Dialect, touched datamap.Table) {
	for _, column := range touched.Columns {
		if _, known := live.types[column.Name]; known {
			continue
		}
		for name, declared := range live.types {
			if dialect.SameName(name, column.Name) {
				delete(live.types, name)
				live.types[column.Name] = declared
				break
			}
		}
	}
}
