package isolation

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain/datamap"
)

// generator generates a random schema, table by table.
type generator struct {
	*rapid.T
	engine
	schema
	numbers []int // numbers in the names of the next tables, in random order
}

func drawSchema(t *rapid.T, e engine) *schema {
	g := &generator{T: t, engine: e, numbers: shuffled(t, "numbers", []int{1, 2, 3, 4, 5, 6, 7})}
	mapped := between(t, "tables", 2, 6)
	var outside *table
	if oneIn(t, "outside", 3) {
		outside = g.table()
		outside.outside = true
		outside.primaryKey = g.keyColumns(outside, 1)
		g.addData(outside)
	}
	g.tables = nil
	g.subjectTable()
	for range mapped - 1 {
		g.childTable()
	}
	if outside != nil {
		g.tables = append([]*table{outside}, g.tables...)
		for _, other := range g.tables[1:] {
			if oneIn(t, "outside link", 3) {
				g.link(other, outside, true)
			}
		}
	}
	g.markPaths()
	if g.mayBeInvalid = oneIn(t, "mistake", 8); g.mayBeInvalid {
		g.addMistake()
	}
	g.restrictLinks()
	return &g.schema
}

// table adds a table with a name that SQL statements must quote.
func (g *generator) table() *table {
	name := pick(g.T, "table", "users", "Order", "select ", `we"ird`, "ünïcode", "what?", "$")
	t := &table{name: fmt.Sprint(name, g.numbers[0])}
	g.numbers = g.numbers[1:]
	g.tables = append(g.tables, t)
	return t
}

func (g *generator) column(t *table, serves purpose, k kind) *column {
	name := pick(g.T, "column", "c", "C ", `q"uote`, "a.b", "what?", "$", "id' ")
	c := &column{kind: k, serves: serves}
	c.Column = datamap.Column{Name: fmt.Sprint(name, len(t.columns)+1), Type: k.Type, Length: k.length}
	t.columns = append(t.columns, c)
	return c
}

func (g *generator) keyColumns(t *table, n int) (names []string) {
	for range n {
		names = append(names, g.column(t, forKey, pick(g.T, "key", g.keys...)).Name)
	}
	return names
}

// subjectTable generates the table of subjects. It chooses the columns that identify a subject (the subject key) at
// random:
//   - the primary key
//   - another unique key
//   - columns with the same values in several rows
func (g *generator) subjectTable() {
	t := g.table()
	t.subjectKey = g.keyColumns(t, pick(g.T, "subject key", 1, 1, 2, 2, 3))
	switch pick(g.T, "identity", "primary key", "primary key", "unique", "repeated") {
	case "primary key":
		t.primaryKey = shuffled(g.T, "primary key", t.subjectKey)
	case "unique":
		t.primaryKey = g.keyColumns(t, between(g.T, "primary key", 1, 2))
		t.uniques = append(t.uniques, shuffled(g.T, "unique", t.subjectKey))
	default:
		t.primaryKey = g.keyColumns(t, 1)
		t.repeats = true
	}
	for _, name := range t.subjectKey {
		if !slices.Contains(t.primaryKey, name) {
			t.column(name).serves = forData
		}
	}
	g.finish(t)
}

// childTable generates a table whose rows belong to a subject, because they refer to the table of subjects or to
// another child table.
func (g *generator) childTable() {
	parents := slices.Clone(g.tables)
	t := g.table()
	staying := slices.DeleteFunc(slices.Clone(parents), func(parent *table) bool { return parent.effect() == deleted })
	parent := pick(g.T, "parent", slices.Concat(parents, staying, parents[len(parents)-1:])...)
	shape := pick(g.T, "identity", "own", "own", "own pair", "path and line", "path")
	if shape == "own" {
		t.primaryKey = g.keyColumns(t, 1)
	}
	byPath := shape == "path and line" || shape == "path"
	t.path = g.link(t, parent, !byPath && oneIn(g.T, "nullable", 3))
	switch shape {
	case "own pair":
		t.primaryKey = g.keyColumns(t, 2)
	case "path and line":
		t.primaryKey = append(slices.Clone(t.path.Columns), g.keyColumns(t, 1)...)
	case "path":
		t.primaryKey = shuffled(g.T, "primary key", t.path.Columns)
	}
	losing := slices.DeleteFunc(slices.Clone(parents), func(parent *table) bool { return parent.effect() != deleted })
	targets := slices.Concat(parents, losing, losing, losing) // links to deleted rows are the most difficult
	for range pick(g.T, "other links", 0, 1, 1, 2) {
		g.link(t, pick(g.T, "to", targets...), true)
	}
	g.finish(t)
}

// link adds a foreign key to a random key of the other table. The order of the columns is random.
func (g *generator) link(t, to *table, nullable bool) *link {
	l := &link{to: to}
	l.ReferencedColumns = shuffled(g.T, "referenced", pick(g.T, "to key", to.keys()...))
	for i, name := range l.ReferencedColumns {
		referenced := to.column(name).kind
		if i == 0 && len(l.ReferencedColumns) > 1 && t.path != nil && to != t && oneIn(g.T, "shared", 2) {
			if shared := sharable(t, referenced); shared != "" {
				l.Columns, l.shared = append(l.Columns, shared), true
				continue
			}
		}
		k := referenced
		if k.Type == datamap.TypeBigInt && oneIn(g.T, "narrow", 6) {
			k = g.narrow
		}
		c := g.column(t, forLink, k)
		c.nullable = nullable
		l.Columns = append(l.Columns, c.Name)
	}
	t.links = append(t.links, l)
	return l
}

// sharable returns a column of kind k that a second foreign key of the table can also use, such as the id of a tenant.
// The column is part of t.path, the foreign key that connects the table to its subject. If there is no such column, it
// returns "".
func sharable(t *table, k kind) string {
	for _, name := range t.path.Columns {
		if c := t.column(name); c.kind.Type == k.Type && c.kind.declared == k.declared {
			return name
		}
	}
	return ""
}

// finish adds the optional parts of a table: columns with data, another key, a foreign key to the same table, and
// annotations.
func (g *generator) finish(t *table) {
	g.addData(t)
	if oneIn(g.T, "another key", 3) {
		var names []string
		for range between(g.T, "another key", 1, 2) {
			c := g.column(t, forData, pick(g.T, "key", g.keys...))
			c.nullable = oneIn(g.T, "nullable", 3)
			names = append(names, c.Name)
		}
		t.uniques = append(t.uniques, names)
	}
	if oneIn(g.T, "self", 4) {
		g.link(t, t, true)
	}
	g.annotate(t)
	for _, c := range t.columns {
		needed := c.Personal != nil || slices.Contains(t.subjectKey, c.Name) || t.countsFrom(c)
		if !needed && oneIn(g.T, "untyped", 4) {
			c.Type = ""
		}
	}
}

// addData adds columns of random kinds. Columns with instants are more frequent than others, because retention periods
// begin at them.
func (g *generator) addData(t *table) {
	times := slices.DeleteFunc(slices.Clone(g.kinds), func(k kind) bool { return k.Type != datamap.TypeTime })
	for range between(g.T, "data", 0, 4) {
		kinds := g.kinds
		if oneIn(g.T, "time", 5) {
			kinds = times
		}
		c := g.column(t, forData, pick(g.T, "kind", kinds...))
		c.nullable = oneIn(g.T, "nullable", 2)
		distinct := c.kind.Type == datamap.TypeText && (c.kind.length == 0 || c.kind.length > 20) ||
			c.kind.Type == datamap.TypeUUID
		c.unique = distinct && oneIn(g.T, "unique", 3)
	}
}

// markPaths selects, for each table, the foreign key that connects its rows to the subject: it sets the field Path of
// this foreign key. If only one foreign key can connect the rows, the field is optional, and markPaths sets it at
// random. markPaths also shuffles the foreign keys, because their order must not matter.
func (g *generator) markPaths() {
	for _, t := range g.tables {
		if t.path == nil {
			continue
		}
		choice := slices.ContainsFunc(t.links, func(l *link) bool { return l != t.path && l.to != t && !l.to.outside })
		t.path.Path = choice || oneIn(g.T, "mark", 4)
		t.links = shuffled(g.T, "links", t.links)
	}
}
