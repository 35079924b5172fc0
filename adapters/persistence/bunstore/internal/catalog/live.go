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
	"github.com/habeas-data/habeas/domain"
)

// liveTable is a table with what the database says of it in a form of its own.
type liveTable struct {
	domain.CatalogTable
	Text    string `json:"text"`    // of a view; on SQLite of any table
	Secured bool   `json:"secured"` // it has row-level security, whether or not that applies to this role

	unnamed  string // its name without a schema
	keyed    bool   // it has an index of its primary key
	shadow   bool   // it holds the rows of a virtual table
	triggers []*liveTrigger
}

// isTemporary reports whether it is a table of SQLite for one connection only. Others are not read.
func (t *liveTable) isTemporary() bool { return t.FoldsCase && t.Schema == "temp" }

// live reads the live catalog.
type live struct {
	dialect  sqltext.Dialect
	query    conn.Query
	tables   map[string]*liveTable // by schema and key
	order    []*liveTable          // as they were read
	names    map[string]*liveTable // by the names that a text may call them, in lower case
	routines map[string]*routine   // by key
	named    map[string][]*routine // by name, in lower case; made when it is needed
	err      error                 // the first one
}

// ReadLive reads the live catalog of a database, in a few statements whatever the number of its tables is. On SQLite
// there is another one for each view and virtual table.
func ReadLive(ctx context.Context, query conn.Query, dialect sqltext.Dialect) (domain.Catalog, error) {
	l := &live{dialect: dialect, query: query, tables: map[string]*liveTable{}, routines: map[string]*routine{}}
	schemas := []string{""}
	if text := dialect.Schemas(""); text != "" {
		schemas, l.err = query.Texts(ctx, text)
	}
	catalog := domain.Catalog{Tables: []domain.CatalogTable{}}
	for _, schema := range schemas {
		statements := dialect.Catalog(schema)
		catalog.Untyped = statements.Untyped
		l.readSchema(ctx, schema, statements)
	}
	if l.err != nil {
		return domain.Catalog{}, l.err
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
	slices.SortFunc(catalog.Tables, func(a, b domain.CatalogTable) int { return cmp.Compare(a.Name, b.Name) })
	return catalog, nil
}

// readSchema reads the tables of a schema, and what belongs to them.
func (l *live) readSchema(ctx context.Context, schema string, statements sqltext.Catalog) {
	each(ctx, l, statements.Tables, func(key string, table *liveTable) {
		table.unnamed = table.Name
		l.tables[schema+"."+key] = table
		l.order = append(l.order, table)
	})
	of := func(key string) *liveTable {
		if table := l.tables[schema+"."+key]; table != nil {
			return table
		}
		return &liveTable{} // which is not listed
	}
	addColumn := func(key string, column *liveColumn) { l.addColumn(of(key), column) }
	each(ctx, l, statements.Columns, addColumn)
	if statements.ColumnsOf != "" {
		for _, table := range l.order {
			if table.Schema == schema && table.Kind != domain.KindTable {
				l.tolerate(ctx, func() { each(ctx, l, statements.ColumnsOf, addColumn, table.unnamed) })
			}
		}
	}
	each(ctx, l, statements.Indexes, func(key string, index *liveIndex) { l.addIndex(of(key), index) })
	each(ctx, l, statements.ForeignKeys, func(key string, foreign *domain.CatalogForeignKey) {
		of(key).ForeignKeys = append(of(key).ForeignKeys, *foreign)
	})
	each(ctx, l, statements.Checks, func(key string, check *domain.CatalogCheck) {
		of(key).Checks = append(of(key).Checks, *check)
	})
	each(ctx, l, statements.Triggers, func(key string, trigger *liveTrigger) {
		of(key).triggers = append(of(key).triggers, trigger)
	})
	each(ctx, l, statements.Routines, func(key string, read *routine) { l.routines[key] = read })
	l.eachText(ctx, statements.Reads, func(key, read string) { of(key).Reads = append(of(key).Reads, read) })
	if statements.HasStatistics != "" && l.err == nil {
		found, err := l.query.Texts(ctx, statements.HasStatistics)
		if l.err = err; len(found) == 0 {
			return
		}
	}
	l.eachText(ctx, statements.Statistics, func(key, rows string) {
		if n, err := strconv.ParseInt(rows, 10, 64); err == nil {
			of(key).Rows = n
		}
	})
}

// each calls take for each row that a statement returns: a key and an object. An empty statement returns none.
func each[T any](ctx context.Context, l *live, text string, take func(key string, item *T), args ...any) {
	var malformed error
	l.eachText(ctx, text, func(key, object string) {
		item := new(T)
		if err := json.Unmarshal([]byte(object), item); err != nil {
			malformed = err
		}
		take(key, item)
	}, args...)
	l.err = cmp.Or(l.err, malformed)
}

// eachText is each for rows of two texts.
func (l *live) eachText(ctx context.Context, text string, take func(key, value string), args ...any) {
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

// tolerate runs a statement on a table, which has no columns if the database cannot read it: a view of a table that is
// gone, or a virtual table whose module is not loaded.
func (l *live) tolerate(ctx context.Context, read func()) {
	if l.err != nil {
		return
	}
	if read(); conn.OfTable(ctx, l.err) {
		l.err = nil
	}
}

// qualify gives the tables of SQLite the names that the connection finds them by: the first one of a name is found
// without a schema. PostgreSQL qualifies the names itself.
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

// lower folds case as SQLite does.
func lower(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, name)
}
