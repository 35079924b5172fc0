package cascade

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// graph holds the foreign keys and triggers that lead from one table of SQLite's databases to another.
type graph struct {
	*live.Schema
	keys     map[*live.Table][]graphKey       // the keys with an action that refer to a table
	triggers map[*live.Table][]sqltext.Tokens // the statements of the triggers of a table
}

// graphKey is a foreign key of the table child.
type graphKey struct {
	datamap.CatalogForeignKey
	child *live.Table
}

func (c *Store) newGraph(schema *live.Schema) *graph {
	g := &graph{schema, map[*live.Table][]graphKey{}, map[*live.Table][]sqltext.Tokens{}}
	for _, table := range schema.All() {
		g.triggers[table] = table.Statements(c.writer.Dialect)
		for _, key := range table.ForeignKeys {
			if parent := g.Find(table.Schema, key.References); parent != nil && (key.OnDelete.Acts() || key.ActsOnUpdate()) {
				g.keys[parent] = append(g.keys[parent], graphKey{key, table})
			}
		}
	}
	return g
}

// below returns the table, and if it is a view, the tables that it reads.
func (g *graph) below(table *live.Table) []*live.Table {
	found := []*live.Table{table}
	for _, name := range table.Reads {
		found = append(found, g.Find(table.Schema, name))
	}
	return found
}

// visit says how the database may change the rows of a table.
type visit struct {
	deletes bool // it may delete rows
	inserts bool // it may insert rows
	updates bool // it may change any column of rows

	columns []string // it may change these columns
}

// changes reports whether one of the columns may change.
func (v visit) changes(w *rows.Writer, columns []string) bool {
	return v.updates || slices.ContainsFunc(columns, func(name string) bool { return containsName(w, v.columns, name) })
}

// with returns the visit with that of another way to the table, and whether they differ.
func (v visit) with(next visit) (both visit, differs bool) {
	both = visit{v.deletes || next.deletes, v.inserts || next.inserts, v.updates || next.updates, slices.Clone(v.columns)}
	for _, name := range next.columns {
		if !slices.Contains(both.columns, name) {
			both.columns = append(both.columns, name)
		}
	}
	return both, both.deletes != v.deletes || both.inserts != v.inserts || both.updates != v.updates ||
		len(both.columns) != len(v.columns)
}

// reach adds to r the tables and foreign keys to which the steps lead.
func (g *graph) reach(w *rows.Writer, steps []datamap.Step, r *Reach) {
	visits, changed := map[*live.Table]visit{}, false
	note := func(table *live.Table, next visit) {
		before, known := visits[table]
		next.deletes = next.deletes || table != nil && table.Replaces()
		both, differs := before.with(next)
		visits[table], changed = both, changed || differs || !known
	}
	for _, step := range steps {
		if table := g.Find("", step.Target); table != nil && step.Strategy != domain.StrategyRetain {
			generates := slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool { return c.Generated })
			for _, below := range g.below(table) {
				deletes := step.Strategy == domain.StrategyDelete
				note(below, visit{deletes: deletes, updates: !deletes && (generates || below != table), columns: writtenBy(step)})
			}
		}
	}
	for changed = true; changed; {
		changed = false
		for table, at := range visits {
			for _, key := range g.keys[table] {
				if at.deletes && key.OnDelete == datamap.ActionCascade {
					note(key.child, visit{deletes: true})
				}
				if at.deletes && key.OnDelete.Acts() && key.OnDelete != datamap.ActionCascade ||
					key.ActsOnUpdate() && at.changes(w, key.Referenced) {
					note(key.child, visit{columns: key.Columns})
				}
			}
			for _, text := range g.triggers[table] {
				r.Triggers = true
				g.follow(table, text, note)
			}
		}
	}
	g.addTo(w, r, visits, g.mapped(w.DataMap))
}

// follow notes the tables that the statements of a trigger change. An INSERT into a virtual table may delete rows. For
// example, FTS5 has a command 'delete'.
func (g *graph) follow(table *live.Table, text sqltext.Tokens, note func(*live.Table, visit)) {
	for i := range text {
		at, next := i+1, visit{}
		switch {
		case text.Is(i, "from") && text.Is(i-1, "delete"):
			next.deletes = true
		case text.Is(i, "into") && text.Is(i-1, "replace"):
			next = visit{deletes: true, inserts: true}
		case text.Is(i, "into") && (text.Is(i-1, "insert") || text.Is(i-3, "insert") && text.Is(i-2, "or")):
			next.inserts = true
		case text.Is(i, "update") && !text.Is(i-1, "do"):
			next.updates = true
			if text.Is(at, "or") {
				next.deletes = text.Is(at+1, "replace")
				at += 2
			}
		default:
			continue
		}
		target := g.Find(table.Schema, text.NameAt(at))
		if target == nil {
			continue
		}
		next.deletes = next.deletes || next.inserts && target.Kind == datamap.KindVirtual
		for _, below := range g.below(target) {
			note(below, next)
		}
	}
}

// mapped returns the names of the data map's tables that hold the rows of each table.
func (g *graph) mapped(m datamap.DataMap) map[*live.Table][]string {
	names := map[*live.Table][]string{}
	for _, table := range m.Tables() {
		if found := g.Find("", table.Name); found != nil {
			for _, below := range g.below(found) {
				names[below] = append(names[below], table.Name)
			}
		}
	}
	return names
}

// direct returns the names of the data map that denote the table itself, and not a view of the table.
func (g *graph) direct(mapped map[*live.Table][]string, table *live.Table) (names []string) {
	for _, name := range mapped[table] {
		if g.Find("", name) == table {
			names = append(names, name)
		}
	}
	return names
}

func (g *graph) addTo(w *rows.Writer, r *Reach, visits map[*live.Table]visit, mapped map[*live.Table][]string) {
	for table, at := range visits {
		if at.deletes && table.Kind != datamap.KindView && !live.IsOwn(syntax.Lower(table.Unnamed)) {
			r.Tables = append(r.Tables, reachedTable{
				ID: id(table), Root: id(table), Name: called(table), Table: quoted(table), Mapped: mapped[table],
				Direct: g.direct(mapped, table), Key: table.PrimaryKey, Readable: true, Inserted: at.inserts,
				rowID: table.RowID(),
			})
		}
		if named := g.direct(mapped, table); r.Triggers && (at.inserts || at.updates) && table.Kind == datamap.KindTable &&
			len(named) > 0 {
			r.Noted = append(r.Noted, reachedTable{
				Table: quoted(table), Direct: named, Key: table.PrimaryKey, rowID: table.RowID(),
			})
		}
		for _, key := range g.keys[table] {
			reached := reachedKey{
				ID: id(key.child), ParentID: id(table), Name: called(key.child), Table: quoted(key.child),
				Parent: quoted(table), Mapped: g.direct(mapped, key.child), ParentMapped: g.direct(mapped, table),
				Columns: key.Columns, Referenced: key.Referenced, Follows: key.Follows, Readable: true,
			}
			if key.OnDelete != datamap.ActionCascade {
				reached.Sets = key.Columns
			}
			if at.deletes && key.OnDelete.Acts() {
				r.Keys = append(r.Keys, reached)
			}
			if key.ActsOnUpdate() && at.changes(w, key.Referenced) {
				reached.OnUpdate, reached.Sets = true, key.Columns
				r.Keys = append(r.Keys, reached)
			}
		}
	}
	slices.SortFunc(r.Tables, func(a, b reachedTable) int { return strings.Compare(a.ID, b.ID) })
}

func id(table *live.Table) string { return table.Schema + "." + syntax.Lower(table.Unnamed) }

func quoted(table *live.Table) string {
	return syntax.Quote(table.Schema) + "." + syntax.Quote(table.Unnamed)
}

// called returns the name of the table as a data map has it.
func called(table *live.Table) string {
	if table.Schema == "main" || table.Schema == "temp" {
		return table.Unnamed
	}
	return table.Schema + "." + table.Unnamed
}
