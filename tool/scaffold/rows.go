package scaffold

import (
	"cmp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// mapOwnRows takes in the tables whose rows the schema gives to a person, and those whose rows it gives to such rows. A
// table comes in only if all tables that refer to it do, because the database deletes or changes their rows, too.
func (d *draft) mapOwnRows() {
	own := map[string]*table{}
	for _, t := range d.tables {
		if _, isMapped := d.mappedTable(t); !isMapped && !d.isAnswered(t) && d.isOwn(t) {
			own[t.Name] = t
		}
	}
	for removed := true; removed; {
		removed = false
		for name, t := range own {
			parent := t.links[0].References
			if d.hasOtherReferrers(t, own) || own[parent] == nil && !d.goesWithPerson(parent) {
				delete(own, name)
				removed = true
			}
		}
	}
	for range len(own) { // parents first
		for _, t := range d.tables {
			_, isMapped := d.mappedTable(t)
			_, hasParent := d.mappedTable(d.table(cmp.Or(own[t.Name], d.subject).parent()))
			if own[t.Name] != nil && !isMapped && hasParent {
				d.mapped = append(d.mapped, d.mapAs(t, "delete", t.links[0]))
			}
		}
	}
}

func (t *table) parent() string {
	if len(t.links) == 0 {
		return t.Name
	}
	return t.links[0].References
}

// hasOtherReferrers reports whether another table than the given ones refers to the table.
func (d *draft) hasOtherReferrers(t *table, own map[string]*table) bool {
	return slices.ContainsFunc(d.tables, func(other *table) bool {
		return other != t && own[other.Name] == nil && slices.ContainsFunc(other.ForeignKeys,
			func(k datamap.CatalogForeignKey) bool { return k.References == t.Name })
	})
}

// goesWithPerson reports whether rows of a table of the data map can own rows that an erasure deletes.
func (d *draft) goesWithPerson(name string) bool {
	parent, isMapped := d.mappedTable(d.table(name))
	return name == d.subject.Name || isMapped && parent.RowsDeleted()
}

// isOwn reports whether the schema gives each row of the table to one person, if it gives those rows to the person to
// which the rows of the table belong.
func (d *draft) isOwn(t *table) bool {
	if len(t.key) == 0 || len(t.links) != 1 || d.Exempt(t.CatalogTable) {
		return false
	}
	link := t.links[0]
	isPart := link.NotNull && link.OnDelete == datamap.ActionCascade || isWholeKey(t, link)
	return link.ForeignKey && isPart && len(d.Shared(t.CatalogTable)) == 0 && d.asks(t) == "" &&
		!slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool { return d.CouldHoldKey(t.CatalogTable, c) })
}

func isWholeKey(t *table, link facts.Link) bool {
	return len(t.PrimaryKey) == len(link.Columns) && !slices.ContainsFunc(link.Columns, func(name string) bool {
		return !slices.Contains(t.PrimaryKey, name)
	})
}

// asks returns the word for which the dictionary asks a question about the rows of the table, or "".
func (d *draft) asks(t *table) string {
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, c.Name)
	}
	return dictionary.Asks(t.Name, columns...)
}

// mapAs returns the table for the data map in which an erasure does what the option of the given kind says, with the
// rows that the links connect to the person.
func (d *draft) mapAs(t *table, kind string, links ...facts.Link) datamap.Table {
	m := datamap.Table{Name: t.Name, PrimaryKey: t.key}
	switch kind {
	case "delete":
		m.Owned, m.Columns = true, withColumns(t, d.deletes(t))
	case "overwrite", "several":
		m.Columns = withColumns(t, d.overwrites(t))
	case "keep":
		m.Columns = withColumns(t, d.keeps(t))
	default:
		m.Columns = withColumns(t, d.identifying(t))
	}
	for _, link := range links {
		relation := d.relation(link)
		relation.Path = true
		switch {
		case kind == "without":
			relation.OnErasure = domain.StrategyNull
		case len(links) > 1:
			relation.Name = link.Column()
		}
		m.Relations = append(m.Relations, relation)
		for i, c := range m.Columns {
			if relation.Links(c.Name) {
				m.Columns[i] = plain(columnOf(t, c.Name))
			}
		}
	}
	m.Relations = append(m.Relations, d.furtherRelations(t, kind, links)...)
	if len(links) > 1 {
		for i, c := range m.Columns {
			if c.Personal != nil {
				m.Columns[i].Personal.Via = viaOf(c.Name, links)
			}
		}
	}
	return m
}

func columnOf(t *table, name string) datamap.CatalogColumn {
	c, _ := t.Column(name)
	return c
}

// viaOf returns the path to which a column belongs: the one that its name begins with, otherwise the first one.
func viaOf(column string, links []facts.Link) string {
	for _, link := range links {
		if stem, _ := dictionary.Stem(link.Column()); stem != "" && strings.HasPrefix(column, stem) {
			return link.Column()
		}
	}
	return links[0].Column()
}

func (d *draft) relation(link facts.Link) datamap.Relation {
	to := d.table(link.References)
	name := to.Name
	if mapped, ok := d.mappedTable(to); ok {
		name = mapped.Name
	}
	return datamap.Relation{
		Columns: link.Columns, References: name, ReferencedColumns: link.Referenced, When: link.When,
		SetsNull: link.ForeignKey && link.OnDelete == datamap.ActionSetNull,
	}
}

// furtherRelations returns the relations of the foreign keys that begin no path. It leaves out those that lead back to
// the table, because the relations of a data map form no cycle.
func (d *draft) furtherRelations(t *table, kind string, links []facts.Link) (relations []datamap.Relation) {
	for _, link := range d.References(t.CatalogTable) {
		isPath := slices.ContainsFunc(links, func(l facts.Link) bool {
			return slices.Equal(l.Columns, link.Columns) && l.References == link.References
		})
		isSelf := link.References == t.Name
		if !link.ForeignKey || isPath || t == d.subject && !isSelf || !isSelf && d.leads(link.References, t.Name) {
			continue
		}
		relation := d.relation(link)
		if isSelf && kind == "delete" && d.isClearable(t, link) {
			relation.OnErasure = domain.StrategyNull
		}
		relations = append(relations, relation)
	}
	return relations
}

// isClearable reports whether an erasure can set the columns of a reference to NULL.
func (d *draft) isClearable(t *table, link facts.Link) bool {
	return !slices.ContainsFunc(link.Columns, func(name string) bool {
		c, _ := t.Column(name)
		isShared := slices.ContainsFunc(t.ForeignKeys, func(k datamap.CatalogForeignKey) bool {
			return slices.Contains(k.Columns, name) && !slices.Equal(k.Columns, link.Columns)
		})
		return !c.Nullable || slices.Contains(t.key, name) || d.isReferred(t, name) || isShared
	})
}

// leads reports whether references lead from one table to another without the table of the people.
func (d *draft) leads(from, to string) bool {
	key := [2]string{from, to}
	if known, ok := d.below[key]; ok {
		return known
	}
	visited := map[string]bool{d.subject.Name: true}
	var visit func(name string) bool
	visit = func(name string) bool {
		if name == to || visited[name] {
			return name == to
		}
		visited[name] = true
		t := d.table(name)
		return t != nil && slices.ContainsFunc(d.References(t.CatalogTable), func(l facts.Link) bool {
			return l.Likely && visit(l.References)
		})
	}
	d.below[key] = visit(from)
	return d.below[key]
}

// chain returns the tables between a link and the people that the data map does not have, with their keys and the
// relations of the path only. ok is false if no path is left without the visited tables.
func (d *draft) chain(link facts.Link, visited ...string) (tables []datamap.Table, ok bool) {
	to := d.table(link.References)
	if to == nil || slices.Contains(visited, to.Name) {
		return nil, false
	}
	if _, isMapped := d.mappedTable(to); isMapped {
		return nil, true
	}
	if len(to.key) == 0 {
		return nil, false
	}
	for _, next := range to.links {
		if !next.Likely {
			continue
		}
		if further, ok := d.chain(next, append(slices.Clone(visited), to.Name)...); ok {
			relation := d.relation(next)
			relation.Path = true
			m := datamap.Table{Name: to.Name, PrimaryKey: to.key, Relations: []datamap.Relation{relation}}
			m.Columns = slices.DeleteFunc(plainColumns(to), func(c datamap.Column) bool {
				return !slices.Contains(to.key, c.Name) && !relation.Links(c.Name) && !d.isReferred(to, c.Name)
			})
			return append(further, m), true
		}
	}
	return nil, false
}
