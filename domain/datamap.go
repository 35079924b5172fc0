package domain

import "slices"

// Column is one column of an application's table.
type Column struct {
	Name      string      `json:"name"`
	Type      ColumnType  `json:"type,omitempty"`      // required for what is annotated, a subject key, or a since column
	Length    int         `json:"length,omitempty"`    // most characters that a text column holds; 0 means no limit
	Surrogate string      `json:"surrogate,omitempty"` // the constant to anonymize with, instead of the type's surrogate
	Personal  *Annotation `json:"personal,omitempty"`  // nil for a column that holds no personal data
}

// Relation is a belongs-to relation: the columns of this table hold the values of referenced columns of another one.
type Relation struct {
	Columns           []string `json:"columns"`
	References        string   `json:"references"` // the other table
	ReferencedColumns []string `json:"referenced_columns"`
	Path              bool     `json:"path,omitempty"`      // leads to the subject, where several relations do
	SetsNull          bool     `json:"sets_null,omitempty"` // ON DELETE SET NULL clears Columns with the other row
}

// Table is one table of the application, with all its columns, annotated or not.
type Table struct {
	Name       string     `json:"name"` // may be qualified by a schema: "shop.orders"
	PrimaryKey []string   `json:"primary_key"`
	SubjectKey []string   `json:"subject_key,omitempty"` // on the subject's table only: the columns of the subject id
	Owned      bool       `json:"owned,omitempty"`       // the whole row is the subject's, annotated or not
	Relations  []Relation `json:"relations,omitempty"`
	Columns    []Column   `json:"columns"`
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

// Duties returns the retained columns whose duties keep the cells of a column: the column itself, and those that count
// their retention from it. A cell is kept until all of these duties are over.
func (t Table) Duties(column string) []Column {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c Column) bool {
		return c.Personal == nil || c.Personal.Since == "" || c.Name != column && c.Personal.Since != column
	})
}

// RowsGo reports whether an erasure deletes the rows of the table: every annotated column says delete, and the rows are
// wholly the subject's. They are if the table is declared owned, or has annotated columns and no other column but those
// of the primary key and of relations.
func (t Table) RowsGo() bool {
	personal := t.Personal()
	for _, column := range personal {
		if column.Personal.Strategy != StrategyDelete {
			return false
		}
	}
	if t.Owned {
		return true
	}
	return len(personal) > 0 && !slices.ContainsFunc(t.Columns, func(c Column) bool {
		return c.Personal == nil && !slices.Contains(t.PrimaryKey, c.Name) && !t.inRelation(c.Name)
	})
}

func (t Table) inRelation(column string) bool {
	return slices.ContainsFunc(t.Relations, func(r Relation) bool { return slices.Contains(r.Columns, column) })
}

// DataMap says where an application keeps personal data and how every row of it belongs to a subject. It is
// immutable, valid by construction, and safe for concurrent use. What its methods return must not be modified.
type DataMap struct {
	tables []Table // the subject's first, the others in the order given
	index  map[string]int
	paths  map[string][]Relation
}

// NewDataMap checks the tables and works out how each one reaches the subject. Exactly one table must have a
// SubjectKey; every other one must reach it by belongs-to relations, over any number of hops, along one path only or
// along the one marked with Path. Relations to tables outside the map are allowed and lead nowhere; a table may refer
// to itself. The error is ErrManifest and names the table and the column.
func NewDataMap(tables ...Table) (DataMap, error) {
	m := DataMap{index: map[string]int{}, paths: map[string][]Relation{}}
	for _, table := range tables {
		m.tables = append(m.tables, cloneTable(table))
	}
	isSubject := func(t Table) bool { return len(t.SubjectKey) > 0 }
	subject := slices.IndexFunc(m.tables, isSubject)
	if subject < 0 {
		return DataMap{}, manifestError("", "", "no table is marked as the subject's")
	}
	first := m.tables[subject]
	m.tables = slices.Insert(slices.Delete(m.tables, subject, subject+1), 0, first)
	for i, table := range m.tables {
		if _, twice := m.index[table.Name]; twice {
			return DataMap{}, manifestError(table.Name, "", "is declared twice")
		}
		if i > 0 && isSubject(table) {
			return DataMap{}, manifestError(table.Name, "", "is marked as the subject's, and so is "+m.tables[0].Name)
		}
		m.index[table.Name] = i
	}
	for _, table := range m.tables {
		if err := m.checkTable(table); err != nil {
			return DataMap{}, err
		}
	}
	ordered, err := m.ChildrenFirst()
	if err != nil {
		return DataMap{}, err
	}
	for _, table := range slices.Backward(ordered) { // parents first
		if table.Name == first.Name {
			continue
		}
		if m.paths[table.Name], err = m.findPath(table); err != nil {
			return DataMap{}, err
		}
	}
	return m, nil
}

// IsZero reports whether m was never built.
func (m DataMap) IsZero() bool { return len(m.tables) == 0 }

// Tables returns all tables, the subject's first and the others in the order they were declared.
func (m DataMap) Tables() []Table { return m.tables }

// SubjectTable returns the subject's table.
func (m DataMap) SubjectTable() Table { return m.tables[0] }

// Table returns the table of that name.
func (m DataMap) Table(name string) (Table, bool) {
	i, ok := m.index[name]
	if !ok {
		return Table{}, false
	}
	return m.tables[i], true
}

// Path returns the relations that lead from the table to the subject's, in order; none for the subject's own table.
func (m DataMap) Path(table string) []Relation { return m.paths[table] }

// CheckSubject checks that the subject is valid and that its id fits the subject's key columns. Returns ErrSubject if
// not. It reads nothing from a store.
//
// The HTTP API calls it before it opens a session. The services call it again, because an application calls them
// without the HTTP API. Only a store calls Key.
func (m DataMap) CheckSubject(subject Subject) error {
	if err := subject.Validate(); err != nil {
		return err
	}
	return m.checkID(subject.ID.Elements())
}

// Key turns a subject id into the values of the subject's key columns, in their order: int64 for integer columns, else
// string. Returns ErrSubject if the id has another arity, or if the type of a column cannot hold it.
func (m DataMap) Key(id SubjectID) ([]any, error) {
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
		return subjectError("the id has not as many elements as the subject's table has key columns")
	}
	for i, name := range table.SubjectKey {
		if column, _ := table.Column(name); !column.fitsKey(elements[i]) {
			return subjectError("the id does not fit the type of " + table.Name + "." + name)
		}
	}
	return nil
}

// IsKey reports whether rows are identified or linked by the column: it is in a key of its table or in a relation from
// or to it. Such a column can be neither anonymized nor corrected.
func (m DataMap) IsKey(table Table, column string) bool {
	if slices.Contains(table.PrimaryKey, column) || slices.Contains(table.SubjectKey, column) {
		return true
	}
	for _, other := range m.tables {
		for _, relation := range other.Relations {
			if other.Name == table.Name && slices.Contains(relation.Columns, column) ||
				relation.References == table.Name && slices.Contains(relation.ReferencedColumns, column) {
				return true
			}
		}
	}
	return false
}

// ChildrenFirst returns the tables ordered so that each one comes before every table it refers to, the subject's
// last; tables that are free to stand in either order are sorted by name. A cycle of relations between different
// tables is ErrManifest.
func (m DataMap) ChildrenFirst() ([]Table, error) {
	waiting := map[string]int{} // how many tables of the map still refer to this one
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
			return nil, manifestError(m.inCycle(names), "", "is part of a cycle of relations between tables")
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

// inCycle returns a table that is part of a cycle, given tables to each of which another one of them refers: who goes
// from table to referring table for long enough comes round.
func (m DataMap) inCycle(names []string) string {
	name, visited := names[0], map[string]bool{}
	for !visited[name] {
		visited[name] = true
		name = names[slices.IndexFunc(names, func(child string) bool {
			return slices.Contains(m.parents(m.tables[m.index[child]]), name)
		})]
	}
	return name
}

// parents lists the other tables of the map that the table refers to, once for each relation.
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
		table.Relations[i].Columns = slices.Clone(relation.Columns)
		table.Relations[i].ReferencedColumns = slices.Clone(relation.ReferencedColumns)
	}
	table.Columns = slices.Clone(table.Columns)
	for i, column := range table.Columns {
		if column.Personal != nil {
			annotation := *column.Personal
			if annotation.Strategy == "" {
				annotation.Strategy = StrategyDelete
			}
			table.Columns[i].Personal = &annotation
		}
	}
	return table
}

func manifestError(table, column, message string) error {
	where := table
	if column != "" {
		where += "." + column
	}
	if where != "" {
		message = where + ": " + message
	}
	return &Error{Code: ErrManifest, Op: "data map", Message: message}
}
