// Package catalog reads what the catalog of the database says about the application's tables, as far as an erasure, an
// export or a rectification depends on it: triggers, rules and views, row-level security, types and privileges.
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

// Catalog says what the database's own catalog holds about the tables of the data map, as far as an erasure depends on
// it. It counts for one fingerprint: the database returns another one once something of it has changed.
type Catalog struct {
	Fingerprint string
	cache       *Cache
	volatile    bool // it must be read each time: the fingerprint does not cover all of it
	tables      map[string]table
}

// KeepsAny reports whether the database may keep something of any table. A trigger of one table may restore what was in
// another one, and a deferred one may still have to fire.
func (c *Catalog) KeepsAny() bool {
	for _, table := range c.tables {
		if table.keeps {
			return true
		}
	}
	return false
}

// table is a table, or a view, as it is in the database.
type table struct {
	hides  string            // why the database may hide rows of it from the store; empty if it does not
	keeps  bool              // the database may keep what it is told to delete: triggers, rules, a view, tables below it
	moves  bool              // what counts lies elsewhere, and can change without a change of the fingerprint
	kind   string            // "a foreign table", say, if its rows cannot be locked
	remote bool              // it does not say which transaction has written a row
	types  map[string]string // the columns, without generated ones, and their types
	never  []string          // the columns that are NOT NULL
	writes writes            // of triggers
	mixes  string            // columns by whose types keys are converted; empty if there are none
	narrow string            // columns by whose types long numbers in ids are converted; empty if there are none
}

// Tells reports whether the database says of a row of a table which transaction has written it.
func (c *Catalog) Tells(table string) bool { return !c.tables[table].remote }

// Types are the columns of a table, without generated ones, with their types.
func (c *Catalog) Types(table string) map[string]string { return c.tables[table].types }

// Cache reads the catalog, and keeps it until its fingerprint changes. It is safe for concurrent use.
type Cache struct {
	text            *sqltext.Writer
	trustRowFilters bool // see bunstore.Options
	logger          *slog.Logger
	warned          sync.Map // what a warning was about
	last            atomic.Pointer[Catalog]
}

// NewCache returns a cache that has read nothing. It logs warnings about triggers.
func NewCache(text *sqltext.Writer, trustRowFilters bool, logger *slog.Logger) *Cache {
	return &Cache{text: text, trustRowFilters: trustRowFilters, logger: logger}
}

// Last returns the catalog as it was read last, or nil if it has not been read or must be read each time.
func (c *Cache) Last() *Catalog {
	if last := c.last.Load(); last != nil && !last.volatile {
		return last
	}
	return nil
}

// Known returns the catalog of a fingerprint if it was read last, or nil.
func (c *Cache) Known(fingerprint string) *Catalog {
	if last := c.Last(); last != nil && last.Fingerprint == fingerprint {
		return last
	}
	return nil
}

// Read reads the catalog, which has the fingerprint.
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

// inspect asks the database for a table. A table that is missing has no columns.
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

// scan reads a row of the catalog. It returns whether the table is not a plain table, whether row-level security is
// active, the text of a view, the columns with their types, those that are NOT NULL, the reason why rows cannot be
// locked, and the triggers.
func (live *table) scan(rows *sql.Rows, quotes map[byte]byte) error {
	var special, secured bool
	var view, columns, never, kind, triggerTexts sql.NullString
	if err := rows.Scan(&special, &secured, &view, &columns, &never, &kind, &triggerTexts); err != nil {
		return err
	}
	var triggers []trigger
	for _, list := range []struct {
		text   sql.NullString
		target any
	}{{columns, &live.types}, {never, &live.never}, {triggerTexts, &triggers}} {
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
	case tokensOf(view.String, quotes).leaveOut():
		live.hides = "it is a view that leaves rows out"
	}
	return nil
}
