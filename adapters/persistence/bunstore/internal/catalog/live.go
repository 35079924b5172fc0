package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain/datamap"
)

// liveTable is a table during ReadLive. It has the properties of datamap.CatalogTable, and further properties from
// which ReadLive derives them.
type liveTable struct {
	datamap.CatalogTable
	Text    string `json:"text"`    // the definition of a view; on SQLite, of any table
	Secured bool   `json:"secured"` // the table has row-level security, even if that does not apply to this role

	unnamed  string // the name without a schema
	keyed    bool   // the table has an index on its primary key
	shadow   bool   // the table holds the rows of a virtual table of SQLite
	triggers []*liveTrigger
}

// isTemporary reports whether the table is a temporary table of SQLite. ReadLive omits such tables, because only one
// connection can use them.
func (t *liveTable) isTemporary() bool { return t.FoldsCase && t.Schema == "temp" }

// live is the state of one call of ReadLive.
type live struct {
	dialect  sqltext.Dialect
	query    conn.Query
	tables   map[string]*liveTable // by schema and key (a key identifies a table in its schema)
	order    []*liveTable          // in the order of reading
	names    map[string]*liveTable // by each name that a definition may use for the table, in lower case
	routines map[string]*routine   // by key
	named    map[string][]*routine // by name, in lower case; created on first use
	err      error                 // the first error
}

// ReadLive reads the definitions of all tables of the database, without the tables of habeas of any data map. It runs a
// fixed number of statements for each schema, and at most one statement for the tables of habeas. SQLite needs one more
// statement for each view and each virtual table.
func ReadLive(ctx context.Context, query conn.Query, dialect sqltext.Dialect) (datamap.Catalog, error) {
	l := &live{dialect: dialect, query: query, tables: map[string]*liveTable{}, routines: map[string]*routine{}}
	schemas := []string{""}
	if text := dialect.Schemas(""); text != "" {
		schemas, l.err = query.Texts(ctx, text)
	}
	catalog := datamap.Catalog{Tables: []datamap.CatalogTable{}}
	for _, schema := range schemas {
		statements := dialect.Catalog(schema)
		catalog.Untyped, catalog.SerialWrites = statements.Untyped, statements.SerialWrites
		l.readSchema(ctx, schema, statements)
	}
	l.removeOwn(ctx)
	if l.err != nil {
		return datamap.Catalog{}, l.err
	}
	l.qualify()
	for _, table := range l.order {
		l.complete(table)
	}
	l.followViews()
	for _, table := range l.order {
		if !table.isTemporary() && !table.shadow {
			catalog.Tables = append(catalog.Tables, table.CatalogTable)
		}
	}
	slices.SortFunc(catalog.Tables, func(a, b datamap.CatalogTable) int { return cmp.Compare(a.Name, b.Name) })
	return catalog, nil
}

// readSchema reads the tables of a schema, and their columns, indexes, constraints and triggers.
func (l *live) readSchema(ctx context.Context, schema string, statements sqltext.Catalog) {
	readObjects(ctx, l, statements.Tables, func(key string, table *liveTable) {
		table.unnamed = table.Name
		l.tables[schema+"."+key] = table
		l.order = append(l.order, table)
	})
	of := func(key string) *liveTable {
		if table := l.tables[schema+"."+key]; table != nil {
			return table
		}
		return &liveTable{} // for a table that is not listed
	}
	addColumn := func(key string, column *liveColumn) { l.addColumn(of(key), column) }
	readObjects(ctx, l, statements.Columns, addColumn)
	if statements.ColumnsOf != "" {
		for _, table := range l.order {
			if table.Schema == schema && table.Kind != datamap.KindTable {
				l.tolerate(ctx, func() { readObjects(ctx, l, statements.ColumnsOf, addColumn, table.unnamed) })
			}
		}
	}
	readObjects(ctx, l, statements.Indexes, func(key string, index *liveIndex) { l.addIndex(of(key), index) })
	readObjects(ctx, l, statements.ForeignKeys, func(key string, foreign *datamap.CatalogForeignKey) {
		of(key).ForeignKeys = append(of(key).ForeignKeys, *foreign)
	})
	readObjects(ctx, l, statements.Checks, func(key string, check *datamap.CatalogCheck) {
		of(key).Checks = append(of(key).Checks, *check)
	})
	readObjects(ctx, l, statements.Triggers, func(key string, trigger *liveTrigger) {
		of(key).triggers = append(of(key).triggers, trigger)
	})
	readObjects(ctx, l, statements.Routines, func(key string, read *routine) { l.routines[key] = read })
	l.readTexts(ctx, statements.ViewReads, func(key, read string) { of(key).Reads = append(of(key).Reads, read) })
	if statements.HasStatistics != "" && l.err == nil {
		found, err := l.query.Texts(ctx, statements.HasStatistics)
		if l.err = err; len(found) == 0 {
			return
		}
	}
	l.readTexts(ctx, statements.Statistics, func(key, rows string) {
		if n, err := strconv.ParseInt(rows, 10, 64); err == nil {
			of(key).Rows = n
		}
	})
}

// readObjects runs a statement whose rows hold the key of a table and a JSON object. It decodes each object and passes
// the key and the object to the callback. If the text of the statement is empty, readObjects does nothing.
func readObjects[T any](ctx context.Context, l *live, text string, take func(key string, item *T), args ...any) {
	var malformed error
	l.readTexts(ctx, text, func(key, object string) {
		item := new(T)
		if err := json.Unmarshal([]byte(object), item); err != nil {
			malformed = err
		}
		take(key, item)
	}, args...)
	l.err = cmp.Or(l.err, malformed)
}

// readTexts runs a statement whose rows hold two texts, and passes the texts of each row to the callback. If the text
// of the statement is empty, readTexts does nothing.
func (l *live) readTexts(ctx context.Context, text string, take func(key, value string), args ...any) {
	if l.err != nil || text == "" {
		return
	}
	l.err = l.query(ctx, func(rows *sql.Rows) error {
		var key, value string
		err := rows.Scan(&key, &value)
		take(key, value)
		return err
	}, text, args...)
}

// tolerate calls readColumns, and ignores an error that concerns only one table. This table then has no columns.
// Examples are a view of a table that does not exist, and a virtual table whose module is not loaded.
func (l *live) tolerate(ctx context.Context, readColumns func()) {
	if l.err != nil {
		return
	}
	if readColumns(); conn.OfTable(ctx, l.err) {
		l.err = nil
	}
}

// qualify sets the names of SQLite's tables. Several attached databases may have a table of the same name. SQLite
// resolves a name without a schema to the first of these tables, so the other tables get a name with their schema. The
// names of PostgreSQL's tables already have a schema where necessary.
func (l *live) qualify() {
	l.names = map[string]*liveTable{}
	for _, table := range l.order {
		if table.FoldsCase && l.names[lower(table.unnamed)] != nil {
			table.Name = table.Schema + "." + table.unnamed
		}
		l.names[lower(table.Name)] = table
	}
	for _, table := range l.order {
		l.names[lower(table.Schema+"."+strings.TrimPrefix(table.unnamed, table.Schema+"."))] = table
	}
}

// lower converts ASCII letters to lower case, as SQLite does to compare names.
func lower(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, name)
}
