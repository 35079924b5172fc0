package domain

import (
	"slices"
	"strings"
)

// Relation is a belongs-to relation: the columns of this table hold the values of referenced columns of another one.
type Relation struct {
	Name              string   `json:"name,omitempty"` // by which columns and errors call it; empty means References
	Columns           []string `json:"columns"`
	References        string   `json:"references"` // the other table
	ReferencedColumns []string `json:"referenced_columns"`
	// Path marks a relation that leads to the subject, where several relations do. If a table marks several, its rows are
	// about several people: each row belongs to each subject that one of them leads to, and each annotated column says to
	// which of them it belongs (Annotation.Via).
	Path bool `json:"path,omitempty"`
	// OnErasure says what becomes of the row when the person is erased that this path leads to: StrategyDelete deletes it,
	// StrategyNull sets Columns to NULL, empty leaves both. It is for paths only.
	OnErasure Strategy `json:"erasure,omitempty"`
	// When restricts the relation to the rows for which it holds, as polymorphic references need. The database is taken to
	// have no foreign key for such a relation.
	When     *Condition `json:"when,omitempty"`
	SetsNull bool       `json:"sets_null,omitempty"` // ON DELETE SET NULL clears Columns with the other row
}

// Condition holds for the rows in which a column has a value.
type Condition struct {
	Column string `json:"column"`
	Value  string `json:"value"` // in its text form, compared exactly
}

// called is the name of the relation.
func (r Relation) called() string {
	if r.Name != "" {
		return r.Name
	}
	return r.References
}

// Equals reports whether two relations of one table lead from the same rows to the same other rows.
func (r Relation) Equals(other Relation) bool {
	return r.References == other.References && slices.Equal(r.Columns, other.Columns) &&
		slices.Equal(r.ReferencedColumns, other.ReferencedColumns) && sameCondition(r.When, other.When)
}

func sameCondition(a, b *Condition) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// excludes reports whether no row can be in both relations.
func (r Relation) excludes(other Relation) bool {
	return r.When != nil && other.When != nil && r.When.Column == other.When.Column && r.When.Value != other.When.Value
}

// Links reports whether the column is part of the relation.
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

// label names the relation in a message: by its name, its columns and the table it refers to.
func (r Relation) label() string {
	label := strings.Join(r.Columns, "+") + " -> " + r.References
	if r.Name != "" {
		label = r.Name + " (" + label + ")"
	}
	return label
}

// checkCondition checks the condition of a relation, if there is one.
func (d *draft) checkCondition(table Table, relation Relation) {
	when := relation.When
	if when == nil {
		return
	}
	report := func(message, remedy string, possible []string) {
		d.report(Problem{
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
			"take the column that says to which table a row refers", nil)
	case column.Type != "" && !column.Type.canBeKey():
		report("is in the condition of the relation "+relation.called()+", but values of its type have no one text form",
			"take a column of one of these types", words(keyTypes()))
	case when.Value == "" || strings.ContainsRune(when.Value, 0):
		report("is in the condition of the relation "+relation.called()+", which has no value",
			"give the value: when:'"+when.Column+"=...'", nil)
	}
}
