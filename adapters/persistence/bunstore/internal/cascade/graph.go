package cascade

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// graph holds the tables of SQLite's databases, with the foreign keys and triggers that lead from one to another.
type graph struct {
	schema  *live.Schema // when it was read
	schemas []string     // in the order in which SQLite resolves the name of a table
	quotes  map[byte]byte
	nodes   map[string]*node // by schema and name in lower case
}

type node struct {
	Name    string   `json:"name"`
	Virtual bool     `json:"virtual"`
	View    string   `json:"view"` // the definition of a view
	Key     []string `json:"key"`  // the primary key

	schema   string
	keys     []*graphKey   // of other tables that refer to the table
	triggers []live.Tokens // the statements of its triggers
}

// graphKey is a foreign key of the node child. A row of ReachedKeys is one column of the key.
type graphKey struct {
	Child      string `json:"child"`
	Number     int    `json:"number"`
	Parent     string `json:"parent"`
	Action     string `json:"action"`
	Column     string `json:"column"`
	Referenced string `json:"referenced"`

	child               *node
	columns, referenced []string
}

func (c *Store) readGraph(ctx context.Context, query conn.Query) (*graph, error) {
	dialect := c.writer.Dialect
	schemas, err := live.Schemas(ctx, query, dialect)
	if err != nil {
		return nil, err
	}
	g := &graph{schemas: schemas, quotes: live.Quotes(dialect), nodes: map[string]*node{}}
	for _, schema := range schemas {
		tables, err := readAll[node](ctx, query, c.own.reachedTables(schema))
		if err != nil {
			return nil, err
		}
		for _, table := range tables {
			table.schema = schema
			g.nodes[schema+"."+live.Lower(table.Name)] = table
		}
		keys, err := readAll[graphKey](ctx, query, c.own.reachedKeys(schema))
		if err != nil {
			return nil, err
		}
		g.addKeys(schema, keys)
		triggers, err := readAll[struct{ Table, Text string }](ctx, query, c.own.reachedTriggers(schema))
		if err != nil {
			return nil, err
		}
		for _, trigger := range triggers {
			text := live.TokensOf(trigger.Text, g.quotes)
			begin := slices.IndexFunc(text, func(t live.Token) bool {
				return t.Kind == live.TokenWord && live.Lower(t.Text) == "begin"
			})
			if table := g.find(schema, trigger.Table); table != nil && begin >= 0 {
				table.triggers = append(table.triggers, text[begin:])
			}
		}
	}
	return g, nil
}

// readAll runs a statement whose rows are JSON objects.
func readAll[T any](ctx context.Context, query conn.Query, text string) (all []*T, err error) {
	err = query(ctx, func(rows *sql.Rows) error {
		var object string
		if err := rows.Scan(&object); err != nil {
			return err
		}
		item := new(T)
		all = append(all, item)
		return json.Unmarshal([]byte(object), item)
	}, text)
	return all, err
}

// addKeys adds the foreign keys of a schema. The columns of a key follow each other.
func (g *graph) addKeys(schema string, columns []*graphKey) {
	var last *graphKey
	for _, column := range columns {
		if last == nil || last.Child != column.Child || last.Number != column.Number {
			last = column
			last.child = g.nodes[schema+"."+live.Lower(column.Child)]
			if parent := g.nodes[schema+"."+live.Lower(column.Parent)]; parent != nil && last.child != nil {
				parent.keys = append(parent.keys, last)
			}
		}
		last.columns, last.referenced = append(last.columns, column.Column), append(last.referenced, column.Referenced)
	}
}

// find returns the table with a name that occurs in a schema: a table of this schema, or the first one that SQLite
// finds.
func (g *graph) find(schema, name string) *node {
	if found := g.nodes[live.Lower(name)]; found != nil { // a qualified name
		return found
	}
	for _, schema := range append([]string{schema}, g.schemas...) {
		if found := g.nodes[schema+"."+live.Lower(name)]; found != nil {
			return found
		}
	}
	return nil
}

// below returns the table, and if it is a view, the tables that it reads.
func (g *graph) below(table *node) []*node {
	found := []*node{table}
	for i := 0; i < len(found); i++ { // found grows in the loop
		text := live.TokensOf(found[i].View, g.quotes)
		for j := range text {
			if !text.Is(j-1, "from", "join") && !text.IsSign(j-1, ",", "(") {
				continue
			}
			if read := g.find(found[i].schema, text.NameAt(j)); read != nil && !slices.Contains(found, read) {
				found = append(found, read)
			}
		}
	}
	return found
}

// visit says how the database may change the rows of a table.
type visit struct {
	deletes bool // it may delete rows
	inserts bool // it may insert rows
}

// reach adds to r the tables and foreign keys to which the steps lead.
func (g *graph) reach(w *rows.Writer, steps []datamap.Step, r *Reach) {
	visits := map[*node]visit{}
	for _, step := range steps {
		if table := g.find("", step.Target); table != nil && step.Strategy != domain.StrategyRetain {
			for _, below := range g.below(table) {
				at := visits[below]
				at.deletes = at.deletes || step.Strategy == domain.StrategyDelete
				visits[below] = at
			}
		}
	}
	for changed := true; changed; {
		changed = false
		note := func(table *node, next visit) {
			before, known := visits[table]
			next = visit{before.deletes || next.deletes, before.inserts || next.inserts}
			changed = changed || !known || next != before
			visits[table] = next
		}
		for table, at := range visits {
			if at.deletes {
				for _, key := range table.keys {
					note(key.child, visit{deletes: key.Action == "CASCADE"})
				}
			}
			for _, text := range table.triggers {
				r.Triggers = true
				g.follow(table, text, note)
			}
		}
	}
	g.addTo(r, visits, g.mapped(w.DataMap))
}

// follow notes the tables that the statements of a trigger change. An INSERT into a virtual table may delete rows. For
// example, FTS5 has a command 'delete'.
func (g *graph) follow(table *node, text live.Tokens, note func(*node, visit)) {
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
			if text.Is(at, "or") {
				next.deletes = text.Is(at+1, "replace")
				at += 2
			}
		default:
			continue
		}
		target := g.find(table.schema, text.NameAt(at))
		if target == nil {
			continue
		}
		next.deletes = next.deletes || next.inserts && target.Virtual
		for _, below := range g.below(target) {
			note(below, next)
		}
	}
}

// mapped returns the names of the data map's tables that hold the rows of each table.
func (g *graph) mapped(m datamap.DataMap) map[*node][]string {
	names := map[*node][]string{}
	for _, table := range m.Tables() {
		if found := g.find("", table.Name); found != nil {
			for _, below := range g.below(found) {
				names[below] = append(names[below], table.Name)
			}
		}
	}
	return names
}

// direct returns the names of the data map that denote the table itself, and not a view of the table.
func (g *graph) direct(mapped map[*node][]string, table *node) (names []string) {
	for _, name := range mapped[table] {
		if g.find("", name) == table {
			names = append(names, name)
		}
	}
	return names
}

func (g *graph) addTo(r *Reach, visits map[*node]visit, mapped map[*node][]string) {
	for table, at := range visits {
		if at.deletes && table.View == "" && !live.IsOwn(live.Lower(table.Name)) {
			r.Tables = append(r.Tables, reachedTable{
				ID: table.id(), Root: table.id(), Name: table.called(), Table: table.quoted(), Mapped: mapped[table],
				Direct: g.direct(mapped, table), Key: table.Key, Readable: true, Inserted: at.inserts,
			})
		}
		if !at.deletes {
			continue
		}
		for _, key := range table.keys {
			reached := reachedKey{
				ID: key.child.id(), ParentID: table.id(), Name: key.child.called(), Table: key.child.quoted(),
				Parent: table.quoted(), Mapped: g.direct(mapped, key.child), ParentMapped: g.direct(mapped, table),
				Columns: key.columns, Referenced: key.referenced, Readable: true,
			}
			if key.Action != "CASCADE" {
				reached.Sets = key.columns
			}
			r.Keys = append(r.Keys, reached)
		}
	}
	slices.SortFunc(r.Tables, func(a, b reachedTable) int { return strings.Compare(a.ID, b.ID) })
}

func (n *node) id() string { return n.schema + "." + live.Lower(n.Name) }

func (n *node) quoted() string { return syntax.Quote(n.schema) + "." + syntax.Quote(n.Name) }

// called returns the name of the table as a data map has it.
func (n *node) called() string {
	if n.schema == "main" || n.schema == "temp" {
		return n.Name
	}
	return n.schema + "." + n.Name
}
