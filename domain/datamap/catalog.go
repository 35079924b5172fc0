package datamap

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Catalog is the live schema of a database, as the database itself describes it. It contains the names of tables,
// columns and constraints, the code of triggers, and no value of a row.
type Catalog struct {
	// Tables are all tables and views in the order of their names. They leave out the tables of the database system, the
	// tables of habeas, and temporary tables.
	Tables []CatalogTable `json:"tables"`
	// Untyped is true if a column accepts values of any type and of any length, as in SQLite.
	Untyped bool `json:"untyped,omitempty"`
	// SerialWrites is true if the database runs at most one writing transaction at a time, as SQLite does.
	SerialWrites bool `json:"serial_writes,omitempty"`
	// IgnoresForeignKeys is true if the connection does not enforce foreign keys, as a connection to SQLite without
	// PRAGMA foreign_keys = ON.
	IgnoresForeignKeys bool `json:"ignores_foreign_keys,omitempty"`
	// TrustsRowFilters is true if the configuration of the store declares that no row-level security policy and no view
	// hides rows of a subject from the connection.
	TrustsRowFilters bool `json:"trusts_row_filters,omitempty"`
	// Encoding is the encoding of a database of PostgreSQL, such as UTF8. It is empty on SQLite.
	Encoding string `json:"encoding,omitempty"`
	// Exposures are the ways in which others reach the tables of habeas, of all data maps, by kind and By.
	Exposures []Exposure `json:"exposures,omitempty"`
}

// Table returns the table that IsCalled by the given name.
func (c Catalog) Table(name string) (CatalogTable, bool) {
	i := slices.IndexFunc(c.Tables, func(t CatalogTable) bool { return t.IsCalled(name) })
	if i < 0 {
		return CatalogTable{}, false
	}
	return c.Tables[i], true
}

// TableKind is the kind of a table of a Catalog.
type TableKind string

// The kinds of tables. A catalog does not list partitions, because their rows, triggers and foreign keys belong to the
// partitioned table. If possible, it also leaves out the internal tables that a database creates for a virtual table
// (KindVirtual).
const (
	KindTable       TableKind = "table"
	KindPartitioned TableKind = "partitioned_table"
	KindView        TableKind = "view"
	KindMatView     TableKind = "materialized_view"
	KindForeign     TableKind = "foreign_table"
	KindVirtual     TableKind = "virtual_table" // a virtual table of SQLite, such as a full-text index
)

// IsLockable reports whether an erasure can lock the rows of a table of this kind.
func (k TableKind) IsLockable() bool { return k != KindMatView && k != KindForeign }

// InWords returns the kind in words, such as "foreign table".
func (k TableKind) InWords() string { return strings.ReplaceAll(string(k), "_", " ") }

// CatalogTable is a table or a view. The columns of each constraint are in the order in which the constraint names
// them.
type CatalogTable struct {
	// Name is the name that a data map uses. It has no schema if the connection finds the table without one.
	Name string    `json:"name"`
	Kind TableKind `json:"kind"`
	// Schema is the schema of the table in PostgreSQL, or its database in SQLite. It may be empty.
	Schema string `json:"schema,omitempty"`
	// FoldsCase is true if the database ignores case when it compares the names of the table and its columns.
	FoldsCase bool `json:"folds_case,omitempty"`
	// NameBytes is the length to which the database cuts longer names in statements, in bytes. 0 means no limit. The names
	// in the catalog are cut, and those in a data map may be longer.
	NameBytes int `json:"name_bytes,omitempty"`
	// Inherits are the parents of a table of PostgreSQL that uses inheritance. The rows of the table are also rows of its
	// parents.
	Inherits []string `json:"inherits,omitempty"`
	// Columns are in the order in which the table declares them.
	Columns     []CatalogColumn     `json:"columns"`
	PrimaryKey  []string            `json:"primary_key,omitempty"`
	Uniques     []CatalogUnique     `json:"uniques,omitempty"` // without the primary key
	Indexes     []CatalogIndex      `json:"indexes,omitempty"` // includes the indexes of the primary key and of Uniques
	ForeignKeys []CatalogForeignKey `json:"foreign_keys,omitempty"`
	Checks      []CatalogCheck      `json:"checks,omitempty"`
	Triggers    []CatalogTrigger    `json:"triggers,omitempty"` // also rules of PostgreSQL; no foreign key triggers
	// Publications are the publications of PostgreSQL because of which the database refuses to change rows of the table or
	// of a partition of it, since these rows have no replica identity.
	Publications []CatalogPublication `json:"publications,omitempty"`
	// Partitions says which rows a partition of a table takes. It is nil if the table has no partitions.
	Partitions *CatalogPartitions `json:"partitions,omitempty"`
	// Conflicts are the conflict clauses of the constraints of a table of SQLite, such as UNIQUE ON CONFLICT REPLACE.
	Conflicts []CatalogConflict `json:"conflicts,omitempty"`
	// Reads are the tables and views that a view reads, directly or through other views. It is empty for a table. On
	// SQLite, the names are guessed from the SQL of the view.
	Reads []string `json:"reads,omitempty"`
	// Uses are the columns that the SQL of a view names, by the table or view in Reads. It is empty on SQLite.
	Uses map[string][]string `json:"uses,omitempty"`
	// Definition is a hash of the SQL of a view of PostgreSQL.
	Definition string `json:"definition,omitempty"`
	// Filtered is true if a view may leave rows out, for example by a condition or a join, or if a rule or a trigger
	// replaces the statements on the view. The same applies to the views that the view reads.
	Filtered bool `json:"filtered,omitempty"`
	// Unlockable is true for a view of PostgreSQL that groups, combines or computes rows, or that reads such a view. The
	// database cannot lock its rows.
	Unlockable bool `json:"unlockable,omitempty"`
	// RowSecurity is true if policies of row-level security may hide rows from the connection. For a view, these are the
	// policies of the tables that the view reads.
	RowSecurity bool `json:"row_security,omitempty"`
	// Secured is true if the table has row-level security, even if it does not apply to the connection.
	Secured bool `json:"secured,omitempty"`
	// Missing are the privileges (SELECT, INSERT, UPDATE or DELETE) that the connection has neither on the table nor on
	// any of its columns.
	Missing []string `json:"missing,omitempty"`
	// Rows is an estimate of the number of rows, from the statistics of the database. It is -1 if the database has no
	// statistics.
	Rows int64 `json:"rows"`
}

// IsCalled reports whether a data map can use the name for the table: it is the Name of the table, or its Schema and
// Name joined by a dot, such as "shop.orders".
func (t CatalogTable) IsCalled(name string) bool {
	return t.Same(t.Name, name) || t.Schema != "" && t.Same(t.Schema+"."+t.Name, name)
}

// Mapped returns the column of a data map's table for the name of a column in the database.
func (t CatalogTable) Mapped(table Table, name string) (Column, bool) {
	i := slices.IndexFunc(table.Columns, func(c Column) bool { return t.Same(c.Name, name) })
	if i < 0 {
		return Column{}, false
	}
	return table.Columns[i], true
}

// Unmapped returns the names of the columns that the data map's table does not have, without generated columns.
func (t CatalogTable) Unmapped(table Table) (names []string) {
	for _, column := range t.Columns {
		if _, mapped := t.Mapped(table, column.Name); !mapped && !column.Generated {
			names = append(names, column.Name)
		}
	}
	return names
}

// ShowsAll reports whether a view shows all rows of one table, and the columns of the data map's table are columns of
// this table. It returns true if the table is not a view.
func (t CatalogTable) ShowsAll(table Table) bool {
	return t.Kind != KindView || !t.Filtered && !slices.ContainsFunc(t.Columns, func(column CatalogColumn) bool {
		_, mapped := t.Mapped(table, column.Name)
		return mapped && column.Derived
	})
}

// IsChoice reports whether a column holds one of a few values: its type is an enum, or a CHECK constraint on this
// column alone lists the values.
func (t CatalogTable) IsChoice(column CatalogColumn) bool {
	return len(column.Values) > 0 || slices.ContainsFunc(t.Checks, func(check CatalogCheck) bool {
		text := strings.ToUpper(check.Text)
		return len(check.Columns) == 1 && t.Same(check.Columns[0], column.Name) &&
			(strings.Contains(text, "ANY (ARRAY[") || strings.Contains(text, " IN ("))
	})
}

// Column returns the column of that name.
func (t CatalogTable) Column(name string) (CatalogColumn, bool) {
	i := slices.IndexFunc(t.Columns, func(c CatalogColumn) bool { return t.Same(c.Name, name) })
	if i < 0 {
		return CatalogColumn{}, false
	}
	return t.Columns[i], true
}

// Same reports whether the database treats two names of columns or of tables as equal. It ignores case if FoldsCase is
// true, and the end of a name that is longer than NameBytes.
func (t CatalogTable) Same(a, b string) bool {
	if a == b || t.FoldsCase && strings.EqualFold(a, b) {
		return true
	}
	schemaA, nameA, qualifiedA := strings.Cut(a, ".")
	schemaB, nameB, qualifiedB := strings.Cut(b, ".")
	return t.NameBytes > 0 && (CutName(a, t.NameBytes) == CutName(b, t.NameBytes) && !qualifiedA && !qualifiedB ||
		qualifiedA && qualifiedB && CutName(schemaA, t.NameBytes) == CutName(schemaB, t.NameBytes) &&
			CutName(nameA, t.NameBytes) == CutName(nameB, t.NameBytes))
}

// CutName returns the longest part of a name, from its beginning, that has at most the given number of bytes and ends
// after a complete character. PostgreSQL cuts names in this way.
func CutName(name string, bytes int) string {
	if len(name) <= bytes {
		return name
	}
	for bytes > 0 && !utf8.RuneStart(name[bytes]) {
		bytes--
	}
	return name[:bytes]
}

// CatalogColumn is a column of a table.
type CatalogColumn struct {
	Name string `json:"name"`
	// Declared is the type as the database writes it, such as "character varying(40)". For a domain of PostgreSQL, it is
	// the base type.
	Declared string `json:"declared"`
	// Type is the matching type of a data map, or empty if no type matches. For an enum, it is TypeText. For a column of
	// whole numbers on SQLite, it is TypeBigInt, independent of the declared width.
	Type ColumnType `json:"type,omitempty"`
	// Length is the maximum number of characters of the type. 0 means no limit. SQLite accepts longer texts, too.
	Length   int  `json:"length,omitempty"`
	Nullable bool `json:"nullable,omitempty"` // never true for a column of the primary key
	// Default is true if the database can fill in the column: it has a default, is an identity column, or is an alias of
	// the rowid of SQLite.
	Default bool `json:"default,omitempty"`
	// Initial is the constant of the column's own default, without quotes, such as new for DEFAULT 'new'. It is empty if
	// the default is not a text, a whole number or a boolean. It belongs to the application, and in no error, log or
	// finding.
	Initial string `json:"initial,omitempty"`
	// Reused is true if the database can fill in the number of a deleted row again: an alias of the rowid of SQLite
	// without AUTOINCREMENT, or a sequence of PostgreSQL with CYCLE.
	Reused    bool     `json:"reused,omitempty"`
	Generated bool     `json:"generated,omitempty"` // the database computes the column, so a statement cannot write it
	Identity  bool     `json:"identity,omitempty"`  // GENERATED ALWAYS AS IDENTITY: an UPDATE cannot write the column
	Derived   bool     `json:"derived,omitempty"`   // a column of a view that is not just a column of the table below it
	Values    []string `json:"values,omitempty"`    // the labels of an enum
	Domain    string   `json:"domain,omitempty"`    // the domain of PostgreSQL that is the type of the column
	// Missing are the privileges that the connection lacks on the column: SELECT, INSERT or UPDATE.
	Missing []string `json:"missing,omitempty"`
}

// CatalogUnique is a unique constraint or a unique index.
type CatalogUnique struct {
	Name string `json:"name"`
	// Columns are the columns of the constraint, followed by the columns that its expressions read.
	Columns []string `json:"columns"`
	// Expressions is true if the constraint covers expressions, such as lower(email).
	Expressions bool `json:"expressions,omitempty"`
	// Partial is true if the constraint applies to some of the rows only. A constraint that only leaves out rows with NULL
	// in its columns is not partial, because NULL counts as different from NULL.
	Partial bool `json:"partial,omitempty"`
	// Where is the condition of a partial constraint, as the database writes it, or the definition of its index.
	Where string `json:"where,omitempty"`
	// NullsEqual is true if the constraint also refuses a second NULL.
	NullsEqual bool `json:"nulls_equal,omitempty"`
	// Exclusion is true for an exclusion constraint of PostgreSQL.
	Exclusion bool `json:"exclusion,omitempty"`
}

// CatalogIndex is an index by which the database can find the rows that hold given values in its first columns.
type CatalogIndex struct {
	Name    string   `json:"name"`    // empty for the rowid of SQLite
	Columns []string `json:"columns"` // the columns before the first expression
	Partial bool     `json:"partial,omitempty"`
	// Present are the columns of a partial index that leaves out the rows with NULL in one of them, and no other rows. The
	// index serves a search by values of these columns. It is empty if the condition of the index is another one.
	Present []string `json:"present,omitempty"`
}

// ForeignKeyAction is the effect on a row if the row that it refers to is deleted.
type ForeignKeyAction string

// The actions of a foreign key.
const (
	ActionNone       ForeignKeyAction = "no_action"
	ActionRestrict   ForeignKeyAction = "restrict"
	ActionCascade    ForeignKeyAction = "cascade"
	ActionSetNull    ForeignKeyAction = "set_null"
	ActionSetDefault ForeignKeyAction = "set_default"
)

// Acts reports whether the action deletes or changes the row.
func (a ForeignKeyAction) Acts() bool {
	return a == ActionCascade || a == ActionSetNull || a == ActionSetDefault
}

// CatalogForeignKey is a foreign key.
type CatalogForeignKey struct {
	Name           string           `json:"name,omitempty"` // empty on SQLite
	Columns        []string         `json:"columns"`
	References     string           `json:"references"` // the Name of the referenced table
	Referenced     []string         `json:"referenced"` // the columns of that table
	OnDelete       ForeignKeyAction `json:"on_delete"`
	Deferrable     bool             `json:"deferrable,omitempty"`
	Follows        bool             `json:"follows,omitempty"`          // ON UPDATE CASCADE
	ClearsOnUpdate bool             `json:"clears_on_update,omitempty"` // ON UPDATE SET NULL
	ResetsOnUpdate bool             `json:"resets_on_update,omitempty"` // ON UPDATE SET DEFAULT
	Full           bool             `json:"full,omitempty"`             // MATCH FULL: all columns are NULL, or none is
	// Cleared are the columns that ON DELETE SET NULL or SET DEFAULT changes. Empty means all columns.
	Cleared []string `json:"cleared,omitempty"`
}

// ActsOnUpdate reports whether the database changes the referring rows if a referenced column changes.
func (k CatalogForeignKey) ActsOnUpdate() bool {
	return k.Follows || k.ClearsOnUpdate || k.ResetsOnUpdate
}

// CatalogCheck is a CHECK constraint of a table, or of the domain that is the type of a column.
type CatalogCheck struct {
	Name    string   `json:"name,omitempty"`
	Columns []string `json:"columns"`
	Text    string   `json:"text"` // the condition as the database writes it
}

// CatalogPublication is a publication of PostgreSQL that refuses changes of rows without a replica identity.
type CatalogPublication struct {
	Name    string   `json:"name"`
	Refuses []string `json:"refuses"` // UPDATE, DELETE, in this order
}

// CatalogPartitions is the condition that a row satisfies if a partition takes it. Its columns are those of the
// partition keys, and it has no name. CatalogReader.Satisfies can evaluate it.
type CatalogPartitions struct {
	CatalogCheck
	Number int `json:"number"` // of the partitions that have no partitions themselves
}

// CatalogConflict is what SQLite does with a row that violates a constraint, unless the statement says otherwise.
type CatalogConflict struct {
	Columns []string `json:"columns"` // of the constraint
	Action  string   `json:"action"`  // REPLACE, IGNORE, ROLLBACK or FAIL
	NotNull bool     `json:"not_null,omitempty"`
}

// RowQuestion asks about rows of a table. It has either a relation or a column.
type RowQuestion struct {
	Table string
	// Relation asks for rows that refer to no row by the relation, and would if case and spaces at the ends did not count.
	Relation *Relation
	// Start asks for rows with a value in this column that cannot be read as the start of a retention period.
	Start string
}

// RowCount answers a RowQuestion. The rows are those with a value in the columns of the question.
type RowCount struct {
	Counted     bool // the database has counted all rows within the time limit
	Rows, Found int64
}

// Verdict says whether a row satisfies a CHECK constraint.
type Verdict string

// The verdicts. A row that makes the condition NULL satisfies the constraint.
const (
	VerdictUndecided Verdict = "undecided" // the database cannot evaluate the constraint on the row
	VerdictHolds     Verdict = "holds"
	VerdictFails     Verdict = "fails"
)

// CatalogTrigger is an enabled trigger, or an enabled rule of PostgreSQL.
type CatalogTrigger struct {
	Name    string   `json:"name"`
	Events  []string `json:"events"`  // INSERT, UPDATE, DELETE, in this order
	Instead bool     `json:"instead"` // runs instead of the statement
	// Writes are the tables that the trigger inserts into or updates, in its own code or in database functions that it
	// calls.
	Writes []string `json:"writes,omitempty"`
	// Deletes are the tables from which the same code deletes rows.
	Deletes []string `json:"deletes,omitempty"`
	// Unread is true if Writes and Deletes may be incomplete. The code of the trigger, or of a database function that it
	// calls, is then in another language than SQL and PL/pgSQL, or builds statements at run time.
	Unread bool `json:"unread,omitempty"`
	// Definition is the statement that creates the trigger or the rule, as the database writes it.
	Definition string `json:"definition,omitempty"`
	// Language is the language of the database function that the trigger executes, such as plpgsql. It is empty if the
	// code of the trigger is in Definition.
	Language string `json:"language,omitempty"`
	// Code is the text of that function, which the tools read. It is SQL of the application, so it belongs in no error,
	// log or finding. The same applies to Definition.
	Code string `json:"code,omitempty"`
}
