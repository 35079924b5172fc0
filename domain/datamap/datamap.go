package datamap

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Column is one column of an application's table.
type Column struct {
	Name string `json:"name"`
	// Type is required for an annotated column, a column of the subject key, and a column that Annotation.Since names.
	Type      ColumnType `json:"type,omitempty"`
	Length    int        `json:"length,omitempty"`    // maximum characters of a text column; 0 means no limit
	Surrogate string     `json:"surrogate,omitempty"` // the constant that overwrites a value, or empty; see Constant
	// SurrogateOfType says that the reader of models has chosen the Surrogate for the Go type of the field, such as "[]"
	// for a slice. The person who wrote the model did not declare it. It has no effect on an erasure.
	SurrogateOfType bool `json:"-"`
	// Always makes an erasure write the Surrogate into a cell that is NULL, too, for a state that must hold after the
	// erasure, such as deleted_at. Without it, a cell that is NULL stays NULL. It needs a Surrogate.
	Always   bool        `json:"always,omitempty"`
	Personal *Annotation `json:"personal,omitempty"` // nil for a column that holds no personal data
	// NotPersonal declares that the column holds no personal data although its name may suggest it. It does not affect an
	// erasure or an export. A check of the data map then does not report that the column lacks an annotation.
	NotPersonal bool `json:"not_personal,omitempty"`
	// Note is for the people who maintain the data map. No operation reads it, but a check of the data map reports the
	// questions in it (see Decide) together.
	Note string `json:"note,omitempty"`
}

// Table is one table of the application, with all its columns, annotated or not.
type Table struct {
	Name       string   `json:"name"` // may be qualified by a schema: "shop.orders"
	PrimaryKey []string `json:"primary_key"`
	SubjectKey []string `json:"subject_key,omitempty"` // in the subject's table only: the columns of the subject id
	Owned      bool     `json:"owned,omitempty"`       // all columns of a row belong to the subject, annotated or not
	// Via names the paths on which an erasure deletes the rows, separated by commas. It is only for an Owned table with
	// several paths. A table without annotated columns has no other names of paths. The name of the first relation means
	// all paths that begin with it, except the paths on which Relation.OnErasure would have no effect. See Path.OnErasure.
	Via string `json:"via,omitempty"`
	// Trusted declares that the table is a view through which a role sees all rows of a subject, and that a statement on
	// the view changes the rows below it as it would change rows of a table. A database store refuses a view that is not
	// plain (its SQL may hide rows, or triggers may replace its statements), unless the view is Trusted.
	Trusted   bool       `json:"trusted,omitempty"`
	Relations []Relation `json:"relations,omitempty"`
	Columns   []Column   `json:"columns"`
	Note      string     `json:"note,omitempty"` // see Column.Note
}

// Column returns the column of that name.
func (t Table) Column(name string) (Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return t.Columns[i], true
}

// Personal returns the annotated columns, in the order of the table.
func (t Table) Personal() []Column {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c Column) bool { return c.Personal == nil })
}

// RowsDeleted reports whether an erasure deletes the rows of the table. It returns true if both conditions are met:
//
//   - Every annotated column has domain.StrategyErase or domain.StrategyDelete.
//   - All columns of a row belong to the subject. This holds if the table is Owned. It also holds if the table has
//     annotated columns, and each other column is in the primary key or in a relation.
func (t Table) RowsDeleted() bool {
	return (t.Owned || len(t.Personal()) > 0) && len(t.ColumnsKeepingRows()) == 0
}

// ColumnsKeepingRows returns the columns that prevent an erasure from deleting the rows of the table. These are the
// columns that are anonymized, set to NULL or retained. If the table is not Owned, they also include each column that
// is not annotated, not in the primary key, and not in a relation.
func (t Table) ColumnsKeepingRows() []Column {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c Column) bool {
		if c.Personal != nil {
			return !keepsRow(c.Personal.Strategy)
		}
		return t.Owned || slices.Contains(t.PrimaryKey, c.Name) || t.inRelation(c.Name)
	})
}

func (t Table) inRelation(column string) bool {
	return slices.ContainsFunc(t.Relations, func(r Relation) bool { return r.Links(column) })
}

// DataMap describes the tables with personal data of an application, and how each of their rows belongs to a subject.
// It is immutable and safe for concurrent use. NewDataMap accepts only valid data maps. Callers must not modify the
// values that its methods return.
type DataMap struct {
	tables    []Table // the subject's table first, the others in the given order
	subjectAt int     // the number of tables before the subject's table in the given order
	index     map[string]int
	paths     map[string][]Path
	notices   []Notice
	accepted  []Acceptance
	decisions []Decision
	zone      *time.Location // nil for UTC
}

// NewDataMap checks the tables and determines the paths from each table to the subject's table. A path is a chain of
// relations from a row to a subject.
//
//   - Exactly one table must have a SubjectKey. It is the subject's table.
//   - Every other table must have a path: a belongs-to relation to the subject's table, or to a table that has a path.
//   - If several relations of a table begin such a path, the table must mark the intended relations with Relation.Path.
//   - Relations to tables outside the data map are allowed and ignored. A table may refer to itself.
//
// If there are mistakes, NewDataMap returns a domain.ErrManifest error that lists all of them in the order of the
// tables. See Problem.
func NewDataMap(tables ...Table) (DataMap, error) { return ReadDataMap("data map", tables, nil) }

// IsZero reports whether m is the zero value, which has no tables.
func (m DataMap) IsZero() bool { return len(m.tables) == 0 }

// Tables returns all tables. The subject's table is the first. The others are in the order of their declaration.
func (m DataMap) Tables() []Table { return m.tables }

// SubjectTable returns the subject's table.
func (m DataMap) SubjectTable() Table { return m.tables[0] }

// Declared returns all tables in the order of their declaration.
func (m DataMap) Declared() []Table {
	declared := slices.Clone(m.tables)
	for i := range min(m.subjectAt, len(declared)-1) {
		declared[i], declared[i+1] = declared[i+1], declared[i]
	}
	return declared
}

// Table returns the table of that name.
func (m DataMap) Table(name string) (Table, bool) {
	i, ok := m.index[name]
	if !ok {
		return Table{}, false
	}
	return m.tables[i], true
}

// CheckSubject checks that the subject is valid and that its id fits the subject's key columns. If the check fails,
// CheckSubject returns domain.ErrSubject. It does not use a store.
//
// The HTTP API calls CheckSubject before it opens a session. The services call it again, because an application may
// call the services without the HTTP API.
func (m DataMap) CheckSubject(subject domain.Subject) error {
	if err := subject.Validate(); err != nil {
		return err
	}
	return m.checkID(subject.ID.Elements())
}

// Key converts a subject id to the values of the subject's key columns, in the order of the columns. A value is an
// int64 for an integer column, otherwise a string. Key returns domain.ErrSubject if the id does not have one element
// for each key column, or if an element does not have the form that its column accepts. For example, an integer has no
// leading zero, and a UUID is in lower case.
func (m DataMap) Key(id domain.SubjectID) ([]any, error) {
	elements := id.Elements()
	if err := m.checkID(elements); err != nil {
		return nil, err
	}
	table := m.SubjectTable()
	key := make([]any, len(elements))
	for i, name := range table.SubjectKey {
		column, _ := table.Column(name)
		key[i] = column.keyValue(elements[i])
	}
	return key, nil
}

func (m DataMap) checkID(elements []string) error {
	table := m.SubjectTable()
	if len(elements) != len(table.SubjectKey) {
		return mismatch("the number of elements of the id differs from the number of key columns of the subject's table")
	}
	for i, name := range table.SubjectKey {
		column, _ := table.Column(name)
		if column.fitsKey(elements[i]) {
			continue
		}
		if column.Type == TypeUUID && IsUUID(strings.ToLower(elements[i])) {
			return mismatch("the id must be a UUID in lower case for " + table.Name + "." + name)
		}
		return mismatch("the id does not fit the type of " + table.Name + "." + name)
	}
	return nil
}

// mismatch returns the error for an id that the key columns cannot hold.
func mismatch(message string) error {
	return &domain.Error{Code: domain.ErrSubject, Op: "subject", Message: message}
}

// IsKey reports whether the column identifies or links rows. Such a column is in the primary key or the subject key, in
// a relation of the table, or referenced by a relation. An erasure cannot anonymize such a column, and a rectification
// cannot correct it.
func (m DataMap) IsKey(table Table, column string) bool {
	if slices.Contains(table.PrimaryKey, column) || slices.Contains(table.SubjectKey, column) {
		return true
	}
	return table.inRelation(column) || m.isReferenced(table, column)
}

func (m DataMap) isReferenced(table Table, column string) bool {
	for _, other := range m.tables {
		for _, relation := range other.Relations {
			if relation.References == table.Name && slices.Contains(relation.ReferencedColumns, column) {
				return true
			}
		}
	}
	return false
}

// ChildrenFirst returns the tables sorted so that each table comes before every table that it refers to. The subject's
// table is the last. Tables whose order is not determined by relations are sorted by name. ChildrenFirst returns
// domain.ErrManifest if relations between different tables form a cycle.
func (m DataMap) ChildrenFirst() ([]Table, error) {
	waiting := map[string]int{} // for each table, the number of relations from tables that are not yet ordered
	for _, table := range m.tables {
		for _, parent := range m.parents(table) {
			waiting[parent]++
		}
	}
	names := make([]string, 0, len(m.tables))
	for _, table := range m.tables[1:] {
		names = append(names, table.Name)
	}
	slices.Sort(names)
	names = append(names, m.SubjectTable().Name)

	var ordered []Table
	for len(names) > 0 {
		next := slices.IndexFunc(names, func(name string) bool { return waiting[name] == 0 })
		if next < 0 {
			return nil, domain.ManifestError("data map", m.cycles())
		}
		table := m.tables[m.index[names[next]]]
		for _, parent := range m.parents(table) {
			waiting[parent]--
		}
		ordered = append(ordered, table)
		names = slices.Delete(names, next, next+1)
	}
	return ordered, nil
}

// parents returns the other tables of the map that the table refers to, once for each relation.
func (m DataMap) parents(table Table) []string {
	var parents []string
	for _, relation := range table.Relations {
		if _, inMap := m.index[relation.References]; inMap && relation.References != table.Name {
			parents = append(parents, relation.References)
		}
	}
	return parents
}

func cloneTable(table Table) Table {
	table.PrimaryKey = slices.Clone(table.PrimaryKey)
	table.SubjectKey = slices.Clone(table.SubjectKey)
	table.Relations = slices.Clone(table.Relations)
	for i, relation := range table.Relations {
		table.Relations[i] = relation.clone()
	}
	table.Columns = slices.Clone(table.Columns)
	for i, column := range table.Columns {
		if column.Personal != nil {
			annotation := *column.Personal
			annotation.Strategy = cmp.Or(annotation.Strategy, domain.StrategyErase)
			table.Columns[i].Personal = &annotation
		}
	}
	return table
}
