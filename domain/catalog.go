package domain

import (
	"slices"
	"strings"
)

// Catalog is the live schema of a database, as the database itself describes it. It names tables, columns and
// constraints, and holds no value of a row.
type Catalog struct {
	// Tables are all tables and views in the order of their names, but for those of the database system, those of habeas
	// itself, and temporary ones.
	Tables []CatalogTable `json:"tables"`
	// Untyped says that a column takes values of any type and of any length, as in SQLite.
	Untyped bool `json:"untyped,omitempty"`
}

// Table returns the table that a name of a data map means: by its Name, or by its schema and its name, also if the
// connection finds it without the schema.
func (c Catalog) Table(name string) (CatalogTable, bool) {
	for _, t := range c.Tables {
		if t.same(t.Name, name) || t.Schema != "" && t.same(t.Schema+"."+t.Name, name) {
			return t, true
		}
	}
	return CatalogTable{}, false
}

// TableKind is the kind of a table of a Catalog.
type TableKind string

// The kinds of tables. A partition is not listed: its rows, triggers and foreign keys are those of the partitioned
// table. The tables in which a KindVirtual keeps its rows are not listed either, as far as they are known.
const (
	KindTable       TableKind = "table"
	KindPartitioned TableKind = "partitioned_table"
	KindView        TableKind = "view"
	KindMatView     TableKind = "materialized_view"
	KindForeign     TableKind = "foreign_table"
	KindVirtual     TableKind = "virtual_table" // of an extension of SQLite, such as a full-text index
)

// CatalogTable is a table or a view. Lists of columns name them in the order of the constraint.
type CatalogTable struct {
	// Name is the name that a data map uses: without a schema if the connection finds the table without one.
	Name string    `json:"name"`
	Kind TableKind `json:"kind"`
	// Schema is the schema of PostgreSQL that the table is in, or the database of SQLite. It is empty if there is none.
	Schema string `json:"schema,omitempty"`
	// FoldsCase says that the database compares the names of the table and its columns without regard to case.
	FoldsCase bool `json:"folds_case,omitempty"`
	// Inherits are the tables that a table of PostgreSQL inherits from. Its rows are rows of theirs, too.
	Inherits []string `json:"inherits,omitempty"`
	// Columns are in the order of the table.
	Columns     []CatalogColumn     `json:"columns"`
	PrimaryKey  []string            `json:"primary_key,omitempty"`
	Uniques     []CatalogUnique     `json:"uniques,omitempty"` // without the primary key
	Indexes     []CatalogIndex      `json:"indexes,omitempty"` // with those of the primary key and of unique constraints
	ForeignKeys []CatalogForeignKey `json:"foreign_keys,omitempty"`
	Checks      []CatalogCheck      `json:"checks,omitempty"`
	Triggers    []CatalogTrigger    `json:"triggers,omitempty"` // with rules of PostgreSQL, without those of foreign keys
	// Reads are the tables and views that a view reads, also through other views. It is empty for a table. On SQLite, they
	// are those that its text seems to read.
	Reads []string `json:"reads,omitempty"`
	// Filtered says that a view may leave rows out, by a condition or a join, say.
	Filtered bool `json:"filtered,omitempty"`
	// RowSecurity says that row-level security may hide rows from the connection: policies apply to it, or there are
	// policies on a table that a view reads.
	RowSecurity bool `json:"row_security,omitempty"`
	// Missing are the privileges that the connection lacks on the table and on each of its columns: SELECT, INSERT, UPDATE
	// or DELETE.
	Missing []string `json:"missing,omitempty"`
	// Rows is an estimate of the number of rows, from the statistics of the database; -1 if they have none.
	Rows int64 `json:"rows"`
}

// Column returns the column of that name.
func (t CatalogTable) Column(name string) (CatalogColumn, bool) {
	i := slices.IndexFunc(t.Columns, func(c CatalogColumn) bool { return t.same(c.Name, name) })
	if i < 0 {
		return CatalogColumn{}, false
	}
	return t.Columns[i], true
}

// same reports whether two names are one to the database.
func (t CatalogTable) same(a, b string) bool { return a == b || t.FoldsCase && strings.EqualFold(a, b) }

// CatalogColumn is a column of a table.
type CatalogColumn struct {
	Name string `json:"name"`
	// Declared is the type as the database writes it: "character varying(40)", say. Of a domain of PostgreSQL it is the
	// type below it.
	Declared string `json:"declared"`
	// Type is the type of the data map that fits, or empty if there is none. Of an enum it is TypeText, and of a column of
	// whole numbers on SQLite TypeBigInt, whatever their declared width.
	Type ColumnType `json:"type,omitempty"`
	// Length is the most characters that the type allows; 0 means no limit. SQLite accepts longer texts, too.
	Length   int  `json:"length,omitempty"`
	Nullable bool `json:"nullable,omitempty"` // never if the column is in the primary key
	// Default says that the column has a default, an identity, or the row number of SQLite.
	Default   bool     `json:"default,omitempty"`
	Generated bool     `json:"generated,omitempty"` // computed from other columns: nothing can write it
	Values    []string `json:"values,omitempty"`    // the labels of an enum
	Domain    string   `json:"domain,omitempty"`    // the domain of PostgreSQL that the column has as its type
	// Missing are the privileges that the connection lacks on the column: SELECT, INSERT or UPDATE.
	Missing []string `json:"missing,omitempty"`
}

// CatalogUnique is a unique constraint or a unique index.
type CatalogUnique struct {
	Name string `json:"name"`
	// Columns are those that must differ, and behind them those that its expressions read.
	Columns []string `json:"columns"`
	// Expressions says that it is over expressions, such as lower(email).
	Expressions bool `json:"expressions,omitempty"`
	Partial     bool `json:"partial,omitempty"` // for some of the rows only
	// NullsEqual says that it refuses a second NULL, too.
	NullsEqual bool `json:"nulls_equal,omitempty"`
	// Exclusion says that it is an exclusion constraint of PostgreSQL.
	Exclusion bool `json:"exclusion,omitempty"`
}

// CatalogIndex is an index that a condition of equality on its first columns can use.
type CatalogIndex struct {
	Name    string   `json:"name"`    // empty for the row number of SQLite
	Columns []string `json:"columns"` // up to the first expression
	Partial bool     `json:"partial,omitempty"`
}

// ForeignKeyAction is what becomes of a row if the row that it refers to is deleted.
type ForeignKeyAction string

// The actions of a foreign key.
const (
	ActionNone       ForeignKeyAction = "no_action"
	ActionRestrict   ForeignKeyAction = "restrict"
	ActionCascade    ForeignKeyAction = "cascade"
	ActionSetNull    ForeignKeyAction = "set_null"
	ActionSetDefault ForeignKeyAction = "set_default"
)

// CatalogForeignKey is a foreign key.
type CatalogForeignKey struct {
	Name       string           `json:"name,omitempty"` // empty on SQLite
	Columns    []string         `json:"columns"`
	References string           `json:"references"` // the table, by its Name
	Referenced []string         `json:"referenced"` // its columns
	OnDelete   ForeignKeyAction `json:"on_delete"`
	Deferrable bool             `json:"deferrable,omitempty"`
}

// CatalogCheck is a CHECK constraint of a table, or of the domain that a column has as its type.
type CatalogCheck struct {
	Name    string   `json:"name,omitempty"`
	Columns []string `json:"columns"`
	Text    string   `json:"text"` // as the database writes it
}

// CatalogTrigger is a trigger, or a rule of PostgreSQL, that is enabled.
type CatalogTrigger struct {
	Name    string   `json:"name"`
	Events  []string `json:"events"`  // INSERT, UPDATE, DELETE, in this order
	Instead bool     `json:"instead"` // it takes the place of the statement
	// Writes are the tables that its text, or that of a function that it calls, inserts into or updates.
	Writes []string `json:"writes,omitempty"`
	// Unread says that Writes may lack tables: a text is not in SQL, or builds statements at run time.
	Unread bool `json:"unread,omitempty"`
}
