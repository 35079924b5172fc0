// Package live reads the definitions of tables from the database: the Schema on which an erasure, an export or a
// rectification depends, and the datamap.Catalog of all tables.
package live

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Schema holds the properties of the data map's tables on which an erasure depends, as the database defines them. The
// database computes a fingerprint of these properties. A Schema is valid while the fingerprint is the same.
type Schema struct {
	*Tables
	Fingerprint string
	cache       *Cache
	inFront     string           // a temporary table with the name of a table of habeas
	volatile    bool             // not to be cached: the fingerprint does not cover all properties
	views       bool             // see MayNotLock
	mapped      map[string]table // by name in the data map
	keepsAny    bool             // see KeepsAny
	copies      bool             // see Copies
}

// KeepsAny reports whether the database may keep or restore data that an erasure deletes or overwrites, in any table of
// the data map. An erasure must then verify all tables, because a trigger of one table may restore data of another
// table.
func (c *Schema) KeepsAny() bool { return c.keepsAny }

// Copies reports whether a trigger, a rule or a generated column may copy a value from one column of a row to another
// one, in any table of the data map.
func (c *Schema) Copies() bool { return c.copies }

// table has the properties of a table or view of the data map that the operations of the store depend on. See describe.
type table struct {
	hides   string            // why the database may hide rows from the store; empty if it does not
	keeps   bool              // the database may keep deleted data, for example by triggers, rules, a view or child tables
	moves   bool              // the definition can change without a change of the fingerprint, for example of a view
	kind    datamap.TableKind // the kind of a table whose rows cannot be locked; empty for other tables
	views   string            // the definitions of the view and of the views that it reads; empty for a table
	remote  bool              // the database cannot say which transaction has written a row
	types   map[string]string // the types of its columns, except generated columns
	unknown []string          // the columns that the data map does not have, in the order of their names
	notNull []string          // the names of the NOT NULL columns
	copies  bool              // it has triggers, rules or generated columns, which may copy a value within a row
	temp    bool              // it is a temporary table or view, which only this connection sees
	hidden  []string          // columns that only the table below the view, or an inheriting table, has
	mixes   string            // why SQLite may confuse subjects; see conversion
	numeric []numericColumn   // the numeric columns for texts of the subject's key; see numericColumns
	leads   bool              // foreign keys act on other rows when its rows are deleted
	splits  bool              // it has partitions, between which an update may move rows

	conflicts bool // see StatesConflicts

	passedOn []string // the columns whose changes foreign keys pass on to other rows (ON UPDATE)

	triggers []datamap.CatalogTrigger // also rules, and those of the tables below the view, and of inheriting tables
}

// Tells reports whether the database can identify the transaction that has written a row of the table. It returns false
// for a foreign table, for example.
func (c *Schema) Tells(table string) bool { return !c.mapped[table].remote }

// Types returns the types of the columns of a table by column name. It omits generated columns.
func (c *Schema) Types(table string) map[string]string { return c.mapped[table].types }

// IsNeverNull reports whether a column is NOT NULL. The answer is current for columns that an erasure sets to NULL, and
// for annotated columns of the subject's table.
func (c *Schema) IsNeverNull(table, column string) bool {
	return slices.Contains(c.mapped[table].notNull, column)
}

// Cache reads a Schema from the database, and keeps it until the fingerprint changes. It is safe for concurrent use.
type Cache struct {
	d               syntax.Dialect
	own             dialect
	dataMap         datamap.DataMap
	touched         []datamap.Table // see Touched
	tables          syntax.Tables
	trustRowFilters bool // see bunstore.Options
	logger          *slog.Logger
	warned          sync.Map // the keys of the warnings that were logged
	locks           sync.Map // whether PostgreSQL can lock the rows of a view, by its definitions
	last            atomic.Pointer[Schema]
}

// NewCache returns an empty cache. The logger receives the warnings about triggers.
func NewCache(
	d syntax.Dialect, dataMap datamap.DataMap, tables syntax.Tables, trustRowFilters bool, logger *slog.Logger,
) *Cache {
	return &Cache{
		d: d, own: dialectOf(d), dataMap: dataMap, touched: rows.Touched(dataMap), tables: tables,
		trustRowFilters: trustRowFilters, logger: logger,
	}
}

// LastRead returns the schema that was read last, also if it must not be cached. It returns nil if none was read yet.
func (c *Cache) LastRead() *Schema { return c.last.Load() }

// Forget makes LastRead return nil until the next Read.
func (c *Cache) Forget() { c.last.Store(nil) }

// Last returns the schema that was read last. It returns nil if none was read yet, or if the last one must
// not be cached.
func (c *Cache) Last() *Schema {
	if last := c.last.Load(); last != nil && !last.volatile {
		return last
	}
	return nil
}

// Known returns the cached schema if it has this fingerprint, or nil.
func (c *Cache) Known(fingerprint string) *Schema {
	if last := c.Last(); last != nil && last.Fingerprint == fingerprint {
		return last
	}
	return nil
}

// Read reads the schema from the database and caches it. The caller has read the fingerprint immediately before. If
// the fingerprint is empty, Read does not cache the schema.
func (c *Cache) Read(ctx context.Context, query conn.Query, fingerprint string) (*Schema, error) {
	return c.read(ctx, query, &scope{c.touched, c.tables, ""}, fingerprint)
}

// ReadBoth does the same as Read, and reads the fingerprint in the same statement. It is only for PostgreSQL.
func (c *Cache) ReadBoth(ctx context.Context, query conn.Query) (*Schema, error) {
	return c.read(ctx, query, &scope{c.touched, c.tables, c.own.fingerprint(c.touched, c.tables)}, "")
}

func (c *Cache) read(ctx context.Context, query conn.Query, of *scope, fingerprint string) (*Schema, error) {
	l, err := readTables(ctx, query, c.d, of)
	if err != nil {
		return nil, err
	}
	fingerprint = cmp.Or(fingerprint, l.fingerprint)
	read := &Schema{
		Tables: l.Tables, Fingerprint: fingerprint, cache: c, volatile: fingerprint == "", inFront: l.inFront(),
		mapped: map[string]table{},
	}
	for _, touched := range c.touched {
		live := l.describe(touched)
		read.mapped[touched.Name] = live
		read.volatile = read.volatile || live.moves
		read.views = read.views || live.views != "" || live.kind != ""
		read.keepsAny, read.copies = read.keepsAny || live.keeps, read.copies || live.copies
		c.warnOfCopies(ctx, touched, live.triggers)
	}
	for _, touched := range c.touched {
		live := read.mapped[touched.Name]
		live.mixes, live.numeric = read.conversion(touched), read.numericColumns(touched)
		read.mapped[touched.Name] = live
	}
	c.last.Store(read)
	return read, nil
}

// dialect has the differences between PostgreSQL and SQLite in the definitions of tables. Its methods return "" for a
// statement that the database does not need.
type dialect interface {
	// fingerprint returns the expression for a text that changes if the live schema of the tables
	// changes in a property of Schema. If the value of the expression is the empty text, the schema must be
	// read each time.
	fingerprint(tables []datamap.Table, own syntax.Tables) string

	// schemas returns the statement that lists the schemas to search for a table, in search order. It returns "" if the
	// database finds the schema from the name of the table.
	schemas() string

	// catalog returns the statements that read the catalog of a schema, which is a result of Schemas. They may leave out
	// the tables outside the scope, unless it is nil.
	catalog(schema string, of *scope) statements

	// exposures returns the statement that lists the exposures of tables of habeas to other roles. It returns "" if the
	// database has no roles. The columns of the result are the kind, the name of the table, and Exposure.By.
	exposures(tables []*Table) string

	// columnType returns the column type that a data map uses for a declared type of the database. It returns "" if data
	// maps have no such type. The second result is the maximum length of a text, or 0.
	columnType(declared string) (t datamap.ColumnType, length int)

	// quotes returns a map from each character that opens a quoted name to the character that closes the name.
	quotes() map[byte]byte

	// checkDeferred returns the statement that makes the database check deferred constraints immediately and run deferred
	// triggers immediately. It returns "" if the database does not have such a statement.
	checkDeferred() string

	// brokenForeignKeys returns the statement that counts the rows of a schema that violate a deferred foreign key. The
	// columns of the result are the table, the referenced table, the number of the foreign key in its table, and the
	// number of rows. brokenForeignKeys is called only if CheckDeferred returns no statement ("").
	brokenForeignKeys(schema string) string

	// constraintTriggers returns the statement that lists the deferrable triggers of all tables. A trigger is mapped if
	// it belongs to one of the given tables, to a table that one of them reads as a view, or to a table that inherits
	// from one of these tables. constraintTriggers is called only if CheckDeferred returns a statement. The columns of
	// the result are:
	//
	//   - the table and the trigger
	//   - the schema and the name of the constraint
	//   - whether the trigger is deferred by default
	//   - whether SET CONSTRAINTS with this name affects only constraint triggers with the same default
	//   - whether the trigger is mapped
	//   - the code of a trigger that is not mapped: a JSON array of routines
	constraintTriggers(tables []datamap.Table) string

	// accessProblem returns the statement that explains why this role cannot use a table. The statement returns no row or
	// NULL if the role has the privileges.
	accessProblem(table string, privileges []string) string

	// convertsKeys reports whether the database stores a value of another type in the type of the column, or compares a
	// value with a column of another type. See syntax.Affinity.
	convertsKeys() bool
}

func dialectOf(d syntax.Dialect) dialect { return syntax.Choose[dialect](d, postgres{}, sqlite{}) }

// Fingerprint returns the expression for a text that changes if the definitions of the tables change in a property of
// Schema. If the value of the expression is the empty text, the definitions must be read each time.
func Fingerprint(d syntax.Dialect, tables []datamap.Table, own syntax.Tables) string {
	return dialectOf(d).fingerprint(tables, own)
}

// CheckDeferred returns the statement that makes the database check deferred constraints immediately and run deferred
// triggers immediately. It returns "" if the database does not have such a statement.
func CheckDeferred(d syntax.Dialect) string { return dialectOf(d).checkDeferred() }

// Schemas returns the schemas to search for a table, in search order. It returns one empty name if the database finds
// the schema from the name of the table.
func Schemas(ctx context.Context, query conn.Query, d syntax.Dialect) ([]string, error) {
	if text := dialectOf(d).schemas(); text != "" {
		return query.Texts(ctx, text)
	}
	return []string{""}, nil
}
