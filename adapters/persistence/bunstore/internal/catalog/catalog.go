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
)

// Catalog holds the properties of the data map's tables on which an erasure depends, as the database defines them. The
// database computes a fingerprint (a hash) of these properties. A Catalog is valid while the fingerprint is the same.
type Catalog struct {
	Fingerprint string
	cache       *Cache
	volatile    bool // not to be cached: the fingerprint does not cover all properties
	tables      map[string]table
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
	mixes   string            // why SQLite may confuse subjects; see conversion
	narrow  string            // why SQLite may confuse subjects whose ids are long numbers; see narrowing
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

// Known returns the cached catalog if it has this fingerprint (a hash of the table definitions), or nil.
func (c *Cache) Known(fingerprint string) *Catalog {
	if last := c.Last(); last != nil && last.Fingerprint == fingerprint {
		return last
	}
	return nil
}

// Read reads the catalog from the database and caches it. The caller has read the fingerprint (a hash of the table
// definitions) immediately before. If the fingerprint is empty, Read does not cache the catalog.
func (c *Cache) Read(ctx context.Context, query conn.Query, fingerprint string) (*Catalog, error) {
	read := &Catalog{Fingerprint: fingerprint, cache: c, volatile: fingerprint == "", tables: map[string]table{}}
	for _, touched := range c.text.Touched {
		live, err := c.inspect(ctx, query, touched.Name)
		if err != nil {
			return nil, err
		}
		read.tables[touched.Name] = live
		read.volatile = read.volatile || live.moves
		c.warnOfCopies(ctx, touched, live)
	}
	for _, touched := range c.text.Touched {
		live := read.tables[touched.Name]
		live.mixes, live.narrow = read.conversion(touched), read.narrowing(touched)
		read.tables[touched.Name] = live
	}
	c.last.Store(read)
	return read, nil
}

// inspect reads the definition of a table. If the table does not exist, the result has no types.
func (c *Cache) inspect(ctx context.Context, query conn.Query, name string) (live table, err error) {
	dialect := c.text.Dialect
	schemas := []string{""}
	if text := dialect.Schemas(name); text != "" {
		if schemas, err = query.Texts(ctx, text); err != nil {
			return live, err
		}
	}
	quotes := dialect.Quotes()
	for _, schema := range schemas {
		text, parameter := dialect.Inspection(schema, name)
		err := query(ctx, func(rows *sql.Rows) error { return live.scan(rows, quotes) }, text, parameter)
		if err != nil || live.types != nil {
			live.moves = live.moves || schema != "" && schema != "main"
			return live, err
		}
	}
	return live, nil
}

// scan reads the definition of a table from a row of the statement that Dialect.Inspection returns.
func (live *table) scan(rows *sql.Rows, quotes map[byte]byte) error {
	var (
		special bool           // the database may keep deleted data for another reason than triggers
		secured bool           // row-level security is active
		view    sql.NullString // the definition of a view
		kind    sql.NullString // a kind of table whose rows cannot be locked

		columns, notNull, triggerTexts sql.NullString // JSON: the types by column, the NOT NULL columns, the triggers
	)
	if err := rows.Scan(&special, &secured, &view, &columns, &notNull, &kind, &triggerTexts); err != nil {
		return err
	}
	var triggers []trigger
	for _, list := range []struct {
		text   sql.NullString
		target any
	}{{columns, &live.types}, {notNull, &live.notNull}, {triggerTexts, &triggers}} {
		if list.text.String == "" {
			continue
		}
		if err := json.Unmarshal([]byte(list.text.String), list.target); err != nil {
			return err
		}
	}
	live.keeps, live.writes = special || len(triggers) > 0, writesOf(triggers, quotes)
	live.moves, live.kind, live.remote = view.Valid, kind.String, view.Valid || kind.Valid
	switch {
	case secured:
		live.hides = "row-level security is active"
	case tokensOf(view.String, quotes).mayFilter():
		live.hides = "it is a view that leaves rows out"
	}
	return nil
}
