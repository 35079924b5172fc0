package datamap

import (
	"cmp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Relation is a belongs-to relation of a table to another table, such as a foreign key. The table that declares the
// relation has Columns. They hold the values of ReferencedColumns of the other table.
type Relation struct {
	Name              string   `json:"name,omitempty"` // for Annotation.Via and for errors; empty means References
	Columns           []string `json:"columns"`
	References        string   `json:"references"` // the name of the other table
	ReferencedColumns []string `json:"referenced_columns"`
	// Path marks a relation that begins a path. If several relations of the table lead to the subject's table, at least
	// one of them must have Path. If several have Path, a row belongs to each subject to which one of them leads. Each
	// annotated column then names its path in Annotation.Via.
	Path bool `json:"path,omitempty"`
	// OnErasure is the action on the row if the subject to which this relation leads, possibly through other tables, is
	// erased. domain.StrategyDelete deletes the row. domain.StrategyNull sets Columns to NULL. If OnErasure is empty,
	// DataMap.RowsDeleted decides whether the row is deleted. Path.OnErasure says on which paths the action has an effect.
	//
	// OnErasure is allowed only for a relation that begins a path, and for a relation of a table to itself. A relation of
	// a table to itself is not a path, and only domain.StrategyNull is allowed for it: if an erasure deletes a row, it
	// sets Columns to NULL in the rows of other people that refer to the deleted row.
	OnErasure domain.Strategy `json:"erasure,omitempty"`
	// When restricts the relation to rows that satisfy a condition, as polymorphic references require. For example,
	// owner_id refers to users only if owner_type is "user". The module assumes that the database has no foreign key for
	// such a relation.
	When     *Condition `json:"when,omitempty"`
	SetsNull bool       `json:"sets_null,omitempty"` // the foreign key has ON DELETE SET NULL
	// SamePerson states that a row and the row that it refers to always belong to the same person, although the schema
	// does not show it. An erasure may then delete the rows of both tables, and deletes the referring rows first. If a row
	// of another person refers to a deleted row by a foreign key of the database, the erasure fails, and the row of the
	// other person stays as it is.
	SamePerson bool `json:"same_person,omitempty"`
}

// Condition is satisfied by the rows in which Column holds Value.
type Condition struct {
	Column string `json:"column"`
	Value  string `json:"value"` // the value as text, compared exactly
}

// called returns the name of the relation, which is References if Name is empty.
func (r Relation) called() string { return cmp.Or(r.Name, r.References) }

// Equals reports whether two relations of one table have the same columns, referenced table, referenced columns and
// condition.
func (r Relation) Equals(other Relation) bool {
	return r.References == other.References && slices.Equal(r.Columns, other.Columns) &&
		slices.Equal(r.ReferencedColumns, other.ReferencedColumns) && sameCondition(r.When, other.When)
}

func sameCondition(a, b *Condition) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// excludes reports whether no row can satisfy the conditions of both relations.
func (r Relation) excludes(other Relation) bool {
	return r.When != nil && other.When != nil && r.When.Column == other.When.Column && r.When.Value != other.When.Value
}

// Links reports whether the relation uses the column, in its Columns or in its condition.
func (r Relation) Links(column string) bool {
	return slices.Contains(r.Columns, column) || r.When != nil && r.When.Column == column
}

func (r Relation) clone() Relation {
	r.Columns, r.ReferencedColumns = slices.Clone(r.Columns), slices.Clone(r.ReferencedColumns)
	if r.When != nil {
		condition := *r.When
		r.When = &condition
	}
	return r
}

// label returns the text that names the relation in a message: its name, its columns and the referenced table.
func (r Relation) label() string {
	label := strings.Join(r.Columns, "+") + " -> " + r.References
	if r.Name != "" {
		label = r.Name + " (" + label + ")"
	}
	return label
}

func (d *draft) checkCondition(table Table, relation Relation) {
	when := relation.When
	if when == nil {
		return
	}
	report := func(message, remedy string, possible []string) {
		d.report(domain.Problem{
			Table: table.Name, Column: when.Column, Message: message, Found: when.Column + "=" + when.Value,
			Possible: possible, Remedy: remedy,
		})
	}
	column, ok := table.Column(when.Column)
	switch {
	case !ok:
		report("is in the condition of the relation "+relation.called()+" but not among the columns", "", columnNames(table))
	case slices.Contains(relation.Columns, when.Column):
		report("is in the condition of the relation "+relation.called()+" and among its columns",
			"use the column that names the table to which a row refers", nil)
	case column.Type != "" && !column.Type.canBeKey():
		report("is in the condition of the relation "+relation.called()+", but its type has values with several text forms",
			"use a column with one of these types", texts(keyTypes()))
	case when.Value == "" || strings.ContainsRune(when.Value, 0):
		report("is in the condition of the relation "+relation.called()+", which has an empty or invalid value",
			"give the value: when:'"+when.Column+"=...'", nil)
	}
}
