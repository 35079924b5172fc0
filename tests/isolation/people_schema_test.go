package isolation

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// people is a generated application whose rows may belong to several people. The first table has one row for each
// person. Each other table has relations to one or two earlier tables. Each relation is part of a path, a chain of
// relations that connects a row to a person.
type people struct {
	*rapid.T
	tables []*peopleTable
}

type peopleTable struct {
	name      string
	key       []string // columns of the primary key
	kind      string   // type of the key columns
	relations []*peopleRelation
	columns   []datamap.Column // texts
	answers   bool             // the column "answers" refers to a row of the table, and is cleared if this row is deleted
	rows      []map[string]any
}

// selfColumn is the column of a table that refers to rows of the same table.
const selfColumn = "answers"

type peopleRelation struct {
	name    string
	to      *peopleTable
	columns []string
	clears  []string // columns that an erasure with StrategyNull sets to NULL
	erasure domain.Strategy
	when    *datamap.Condition
}

func drawPeople(t *rapid.T) *people {
	p := &people{T: t}
	subject := &peopleTable{
		name: `we"ird`, key: pick(t, "subject key", []string{"key"}, []string{"tenant", "number"}),
		kind: pick(t, "key type", "BIGINT", "TEXT"),
	}
	subject.columns = []datamap.Column{p.text("email", "")}
	p.tables = []*peopleTable{subject}
	for i := range between(t, "tables", 1, 3) {
		p.table(fmt.Sprint("t ", i))
	}
	p.fill()
	return p
}

func (p *people) text(name, via string) datamap.Column {
	return datamap.Column{Name: name, Type: datamap.TypeText, Personal: &datamap.Annotation{
		Category: domain.CategoryContact, Strategy: domain.StrategyErase, Via: via,
	}}
}

// table adds a table with one or two relations. Two relations may use the same columns and differ only in their
// conditions.
func (p *people) table(name string) {
	t := &peopleTable{name: name, key: []string{"id"}, kind: "BIGINT"}
	parents := []*peopleTable{pick(p.T, "parent", p.tables...)}
	if oneIn(p.T, "two parents", 2) || len(p.tables) == 1 {
		parents = append(parents, pick(p.T, "parent", slices.Concat(p.tables, p.tables[:1])...))
	}
	polymorphic := len(parents) == 2 && parents[0].kind == parents[1].kind && len(parents[0].key) == len(parents[1].key) &&
		oneIn(p.T, "polymorphic", 2)
	for i, parent := range parents {
		t.relations = append(t.relations, p.relation(i, parent, polymorphic))
	}
	for i, r := range t.relations {
		r.clears = slices.DeleteFunc(slices.Clone(r.columns), func(name string) bool {
			other := t.relations[len(t.relations)-1-i]
			apart := r.when != nil && other.when != nil // a row has the kind of one of the two relations
			return other != r && !apart && slices.Contains(other.columns, name)
		})
	}
	t.answers = oneIn(p.T, "answers", 3)
	p.annotate(t)
	p.tables = append(p.tables, t)
}

func (p *people) relation(i int, parent *peopleTable, polymorphic bool) *peopleRelation {
	r := &peopleRelation{name: fmt.Sprint("R", i), to: parent}
	r.erasure = pick(p.T, "erasure", "", "", domain.StrategyDelete, domain.StrategyNull)
	if parent.losesRows() && r.erasure == "" {
		r.erasure = pick(p.T, "erasure below rows that go", domain.StrategyDelete, domain.StrategyNull)
	}
	prefix := fmt.Sprint("ref", i, " ")
	if polymorphic {
		prefix = "ref "
	}
	if polymorphic || oneIn(p.T, "condition", 4) {
		value := []string{"plain", `it's ?1 "$1" \ ü`}[i]
		r.when = &datamap.Condition{Column: "kind", Value: value}
	}
	for j, name := range parent.key {
		if j == 0 && len(parent.key) > 1 && !polymorphic { // two relations may have the same tenant column
			r.columns = append(r.columns, "tenant")
			continue
		}
		r.columns = append(r.columns, prefix+name)
	}
	if len(parent.key) > 1 && !polymorphic && !oneIn(p.T, "tenant in the key", 2) {
		r.columns[0] = prefix + "tenant"
	}
	return r
}

// acts reports whether the strategy of the first relation of the path has an effect. The path leads to a person
// directly, or the erasure deletes the row to which the relation leads, or no other path connects the row to a person.
func (t *peopleTable) acts(via string) bool {
	if len(t.relations) == 0 {
		return true
	}
	r := t.relationOf(via)
	onward := strings.TrimPrefix(strings.TrimPrefix(via, r.name), ".")
	if len(t.relations) == 1 {
		onward = via
	}
	if len(r.to.relations) == 0 || r.to.acts(onward) && r.to.relationOf(onward).erasure == domain.StrategyDelete {
		return true
	}
	for _, other := range t.pathNames() {
		if other != via && !t.excludes(via, other) {
			return false
		}
	}
	return true
}

// excludes reports whether the conditions of the relations in which two paths first differ exclude each other.
func (t *peopleTable) excludes(via, other string) bool {
	a, b := t.relationOf(via), t.relationOf(other)
	switch {
	case a != b:
		return a.when != nil && b.when != nil
	case len(t.relations) == 1:
		return a.to.excludes(via, other)
	default:
		return a.to.excludes(strings.TrimPrefix(via, a.name+"."), strings.TrimPrefix(other, a.name+"."))
	}
}

// losesRows reports whether an erasure deletes rows of the table.
func (t *peopleTable) losesRows() bool {
	return slices.ContainsFunc(t.relations, func(r *peopleRelation) bool { return r.erasure == domain.StrategyDelete })
}

// clearsPath reports whether an erasure sets to NULL a foreign key that connects the rows of this table to a person.
// The foreign key is in this table, or in another table on the path to the person.
func (t *peopleTable) clearsPath() bool {
	return slices.ContainsFunc(t.relations, func(r *peopleRelation) bool {
		return r.erasure == domain.StrategyNull || r.to.clearsPath()
	})
}

// pathNames returns the expected names of the table's paths. The field Via of an annotation has such names.
func (t *peopleTable) pathNames() (names []string) {
	if len(t.relations) == 0 {
		return []string{""}
	}
	for _, r := range t.relations {
		for _, onward := range r.to.pathNames() {
			names = append(names, t.via(r, onward))
		}
	}
	return names
}

func (t *peopleTable) via(r *peopleRelation, onward string) string {
	if len(t.relations) == 1 {
		return onward
	}
	return strings.TrimSuffix(r.name+"."+onward, ".")
}

// annotate adds columns with personal data. The annotation of each column names one or more paths, or a relation, which
// means all paths that begin with this relation.
func (p *people) annotate(t *peopleTable) {
	vias := t.pathNames()
	names := slices.Clone(vias)
	if len(t.relations) > 1 {
		names = append(names, "R0", "R1")
	}
	for i := range between(p.T, "columns", 0, 3) {
		via := ""
		if len(vias) > 1 {
			via = pick(p.T, "via", names...)
			if oneIn(p.T, "two vias", 3) {
				via += ", " + pick(p.T, "via", names...)
			}
		}
		c := p.text(fmt.Sprint("c", i), via)
		switch {
		case t.losesRows():
		case t.clearsPath():
			c.Personal.Strategy = pick(p.T, "strategy", domain.StrategyErase, domain.StrategyAnonymize, domain.StrategyNull)
		default:
			c.Personal.Strategy = pick(p.T, "strategy", domain.StrategyErase, domain.StrategyNull, domain.StrategyRetain)
		}
		if c.Personal.Strategy == domain.StrategyRetain {
			c.Personal.Reason = "books"
		}
		c.Personal.Ref = pick(p.T, "ref", append([]string{""}, keySystems...)...)
		t.columns = append(t.columns, c)
	}
}

// all returns the names of the table's columns, the columns of the primary key first.
func (t *peopleTable) all() []string {
	names := slices.Clone(t.key)
	for _, r := range t.relations {
		names = append(names, r.columns...)
	}
	names = append(names, "kind", "plain")
	if t.answers {
		names = append(names, selfColumn)
	}
	for _, c := range t.columns {
		names = append(names, c.Name)
	}
	slices.Sort(names[len(t.key):])
	return slices.Compact(names)
}

func (t *peopleTable) typeOf(name string) string {
	if slices.Contains(t.key, name) || name == selfColumn {
		return t.kind
	}
	for _, r := range t.relations {
		if slices.Contains(r.columns, name) {
			return r.to.kind
		}
	}
	return "TEXT"
}

func (p *people) script() string {
	var script strings.Builder
	for _, t := range p.tables {
		var lines []string
		for _, name := range t.all() {
			lines = append(lines, quote(name)+" "+t.typeOf(name))
		}
		lines = append(lines, "PRIMARY KEY "+tuple(t.key))
		for _, r := range t.relations {
			if r.when == nil {
				lines = append(lines, "FOREIGN KEY "+tuple(r.columns)+" REFERENCES "+quote(r.to.name)+" "+tuple(r.to.key))
			}
		}
		if t.answers {
			lines = append(lines, "FOREIGN KEY (answers) REFERENCES "+quote(t.name)+" "+tuple(t.key))
		}
		fmt.Fprintf(&script, "CREATE TABLE %s (%s);\n", quote(t.name), strings.Join(lines, ", "))
	}
	return script.String()
}

func (p *people) dataMap() (datamap.DataMap, error) {
	var tables []datamap.Table
	for i, t := range p.tables {
		table := datamap.Table{Name: t.name, PrimaryKey: t.key}
		if i == 0 {
			table.SubjectKey = t.key
		}
		for _, name := range t.all() {
			c := datamap.Column{Name: name, Type: map[string]datamap.ColumnType{
				"BIGINT": datamap.TypeBigInt, "TEXT": datamap.TypeText,
			}[t.typeOf(name)]}
			if j := slices.IndexFunc(t.columns, func(c datamap.Column) bool { return c.Name == name }); j >= 0 {
				c = t.columns[j]
			}
			table.Columns = append(table.Columns, c)
		}
		for _, r := range t.relations {
			table.Relations = append(table.Relations, datamap.Relation{
				Name: r.name, Columns: r.columns, References: r.to.name, ReferencedColumns: r.to.key, Path: true,
				OnErasure: r.erasure, When: r.when,
			})
		}
		if t.answers {
			table.Relations = append(table.Relations, datamap.Relation{
				Columns: []string{selfColumn}, References: t.name, ReferencedColumns: t.key, OnErasure: domain.StrategyNull,
			})
		}
		tables = append(tables, table)
	}
	return datamap.NewDataMap(tables...)
}
