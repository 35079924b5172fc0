package domain

import "slices"

// Catalog is the live schema of a database, as the database itself describes it. It names tables, columns and
// constraints, and holds no value of a row.
type Catalog struct {
	Tables []CatalogTable `json:"tables"` // all tables and views but those of the database system, by name
	// FoldsCase says that names which differ in case alone are one name, as in SQLite.
	FoldsCase bool `json:"folds_case,omitempty"`
	// Untyped says that a column takes values of any type and of any length, as in SQLite.
	Untyped bool `json:"untyped,omitempty"`
}

// Table returns the table of that name.
func (c Catalog) Table(name string) (CatalogTable, bool) {
	i := slices.IndexFunc(c.Tables, func(t CatalogTable) bool { return t.Name == name })
	if i < 0 {
		return CatalogTable{}, false
	}
	return c.Tables[i], true
}

// TableKind is the kind of a table of a Catalog.
type TableKind string

// The kinds of tables. A partition and a child by inheritance are not listed: the rows are those of their parents.
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
	// Columns are in the order of the table.
	Columns     []CatalogColumn     `json:"columns"`
	PrimaryKey  []string            `json:"primary_key,omitempty"`
	Uniques     []CatalogUnique     `json:"uniques,omitempty"` // without the primary key
	Indexes     []CatalogIndex      `json:"indexes,omitempty"` // with those of the primary key and of unique constraints
	ForeignKeys []CatalogForeignKey `json:"foreign_keys,omitempty"`
	Checks      []CatalogCheck      `json:"checks,omitempty"`
	Triggers    []CatalogTrigger    `json:"triggers,omitempty"` // rules of PostgreSQL included; without those of foreign keys
	// Reads are the tables that a view reads. It is empty for a table.
	Reads []string `json:"reads,omitempty"`
	// RowSecurity says that row-level security restricts the connection to some of the rows.
	RowSecurity bool `json:"row_security,omitempty"`
	// Missing are the privileges that the connection lacks: SELECT, INSERT, UPDATE or DELETE.
	Missing []string `json:"missing,omitempty"`
	// Rows is the number of rows that the database's statistics have, or -1 if they have none.
	Rows int64 `json:"rows"`
}

// Column returns the column of that name.
func (t CatalogTable) Column(name string) (CatalogColumn, bool) {
	i := slices.IndexFunc(t.Columns, func(c CatalogColumn) bool { return c.Name == name })
	if i < 0 {
		return CatalogColumn{}, false
	}
	return t.Columns[i], true
}

// CatalogColumn is a column of a table.
type CatalogColumn struct {
	Name string `json:"name"`
	// Declared is the type as the database writes it: "character varying(40)", say.
	Declared string `json:"declared"`
	// Type is the type of the data map that fits, or empty if there is none. Of a domain of PostgreSQL it is that of the
	// type below it, and of an enum it is TypeText.
	Type     ColumnType `json:"type,omitempty"`
	Length   int        `json:"length,omitempty"` // most characters; 0 means no limit
	Nullable bool       `json:"nullable,omitempty"`
	// Default says that the column has a default, an identity, or the row number of SQLite.
	Default   bool     `json:"default,omitempty"`
	Generated bool     `json:"generated,omitempty"` // computed from other columns: nothing can write it
	Values    []string `json:"values,omitempty"`    // the labels of an enum
	Domain    string   `json:"domain,omitempty"`    // the domain of PostgreSQL that the column has as its type
}

// CatalogUnique is a unique constraint or a unique index.
type CatalogUnique struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"` // none for an index over expressions
	Partial bool     `json:"partial,omitempty"`
	// Exclusion says that it is an exclusion constraint of PostgreSQL.
	Exclusion bool `json:"exclusion,omitempty"`
}

// CatalogIndex is an index that a condition of equality on its first columns can use.
type CatalogIndex struct {
	Name    string   `json:"name"`
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

// CatalogTrigger is a trigger, or a rule of PostgreSQL.
type CatalogTrigger struct {
	Name    string   `json:"name"`
	Events  []string `json:"events"`           // INSERT, UPDATE, DELETE
	Instead bool     `json:"instead"`          // it takes the place of the statement
	Writes  []string `json:"writes,omitempty"` // the tables that its text writes, as far as it can be read
	Unread  bool     `json:"unread,omitempty"` // its text cannot be read
}
