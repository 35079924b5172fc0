package live

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Table is a table of the database. It has the properties of datamap.CatalogTable, and further properties from which
// the reader derives them.
type Table struct {
	datamap.CatalogTable
	Text      string `json:"text"`      // the definition of a view; on SQLite, of any table
	Temporary bool   `json:"temporary"` // only this connection sees the table
	Unnamed   string `json:"-"`         // the name without a schema

	keyed    bool // the table has an index on its primary key
	shadow   bool // the table holds the rows of a virtual table of SQLite
	triggers []*liveTrigger
}

// Tables are the tables that a reader has read.
type Tables struct {
	order  []*Table          // in the order of reading
	tables map[string]*Table // by schema and key (a key identifies a table in its schema)
	names  map[string]*Table // by each name that a definition may use for the table, in lower case
}

// All returns all tables.
func (t *Tables) All() []*Table { return t.order }

// Find returns the table with a name that occurs in a definition of a schema. On SQLite, such a table is usually in the
// same schema, so Find searches that schema first. It returns nil if there is no such table.
func (t *Tables) Find(schema, name string) *Table {
	if named := t.tables[schema+"."+syntax.Lower(name)]; named != nil {
		return named
	}
	return t.names[syntax.Lower(name)]
}

// scope limits what a reader reads: the tables of a data map, the tables that a view among them reads, those that
// inherit from one of these tables, and those that refer to one of these tables with a foreign key that has an
// action. It also covers the temporary tables with the name of a table of habeas.
type scope struct {
	tables      []datamap.Table
	own         syntax.Tables
	fingerprint string // see dialect; "" if it is not read
}

// reader reads the definitions of tables, and holds the result.
type reader struct {
	d     syntax.Dialect
	own   dialect
	query conn.Query
	scope *scope // nil for all tables
	*Tables
	removed  []*Table              // the tables of habeas, which are not among Tables
	routines map[string]*routine   // by key
	named    map[string][]*routine // by name, in lower case; created on first use
	err      error                 // the first error

	fingerprint string // see scope
	encoding    string // see datamap.Catalog

	untyped, serialWrites, ignoresForeignKeys bool // see datamap.Catalog
}

// readTables reads the definitions of tables. It runs one statement on PostgreSQL, and one statement for each schema of
// SQLite. If the scope is nil, it runs at most one more statement for the tables of habeas, and SQLite needs three more
// statements for each schema, and one more statement for each view and each virtual table.
func readTables(ctx context.Context, query conn.Query, d syntax.Dialect, of *scope) (*reader, error) {
	l := &reader{
		d: d, own: dialectOf(d), query: query, scope: of, routines: map[string]*routine{},
		Tables: &Tables{tables: map[string]*Table{}, names: map[string]*Table{}},
	}
	schemas, err := Schemas(ctx, query, d)
	if err != nil {
		return nil, err
	}
	for _, schema := range schemas {
		statements := l.own.catalog(schema, of)
		l.untyped, l.serialWrites = statements.Untyped, statements.SerialWrites
		l.readSchema(ctx, schema, statements)
	}
	if of == nil {
		l.removeOwn(ctx)
	}
	if l.err != nil {
		return nil, l.err
	}
	l.qualify()
	for _, table := range l.order {
		l.complete(table)
	}
	l.followViews()
	return l, nil
}

// ReadCatalog reads the definitions of all tables of the database, without temporary tables and the tables of habeas of
// any data map. If there are tables of habeas, it runs one more statement on PostgreSQL.
func ReadCatalog(ctx context.Context, query conn.Query, d syntax.Dialect) (datamap.Catalog, error) {
	l, err := readTables(ctx, query, d, nil)
	if err != nil {
		return datamap.Catalog{}, err
	}
	catalog := datamap.Catalog{
		Tables: []datamap.CatalogTable{}, Untyped: l.untyped, SerialWrites: l.serialWrites,
		IgnoresForeignKeys: l.ignoresForeignKeys, Encoding: l.encoding,
	}
	for _, table := range l.order {
		if !table.Temporary && !table.shadow {
			catalog.Tables = append(catalog.Tables, table.CatalogTable)
		}
	}
	slices.SortFunc(catalog.Tables, func(a, b datamap.CatalogTable) int { return cmp.Compare(a.Name, b.Name) })
	catalog.Exposures = l.exposures(ctx)
	return catalog, l.err
}

// part is one of the statements that read a schema.
type part struct {
	text string
	take func(key, object string) error // called for each row
}

// partOf returns a part that decodes the object in each row of a statement, and passes it to the callback.
func partOf[T any](text string, take func(key string, item *T)) part {
	return part{text, func(key, object string) error {
		item := new(T)
		if err := json.Unmarshal([]byte(object), item); err != nil {
			return err
		}
		take(key, item)
		return nil
	}}
}

// readSchema reads the tables of a schema, and their columns, indexes, constraints and triggers.
func (l *reader) readSchema(ctx context.Context, schema string, statements statements) {
	of := func(key string) *Table {
		if table := l.tables[schema+"."+key]; table != nil {
			return table
		}
		return &Table{} // for a table that is not listed
	}
	columns := partOf(statements.Columns, func(key string, column *liveColumn) { l.addColumn(of(key), column) })
	l.readParts(ctx, statements.With, []part{
		partOf(statements.Tables, func(key string, table *Table) {
			table.Unnamed = table.Name
			l.tables[schema+"."+key] = table
			l.order = append(l.order, table)
		}),
		columns,
		partOf(statements.Indexes, func(key string, index *liveIndex) { l.addIndex(of(key), index) }),
		partOf(statements.ForeignKeys, func(key string, foreign *datamap.CatalogForeignKey) {
			of(key).ForeignKeys = append(of(key).ForeignKeys, *foreign)
		}),
		partOf(statements.Checks, func(key string, check *datamap.CatalogCheck) {
			of(key).Checks = append(of(key).Checks, *check)
		}),
		partOf(statements.Triggers, func(key string, trigger *liveTrigger) {
			of(key).triggers = append(of(key).triggers, trigger)
		}),
		partOf(statements.Routines, func(key string, read *routine) { l.routines[key] = read }),
		partOf(statements.Fingerprint, func(_ string, read *string) { l.fingerprint = *read }),
		partOf(statements.Publications, func(key string, publication *datamap.CatalogPublication) {
			of(key).Publications = append(of(key).Publications, *publication)
		}),
		partOf(statements.Partitions, func(key string, read *datamap.CatalogPartitions) {
			if read.Number > 0 {
				of(key).Partitions = read
			}
		}),
		partOf(statements.Encoding, func(_ string, read *string) { l.encoding = *read }),
		partOf(statements.ViewReads, func(key string, read *viewRead) { of(key).addRead(*read) }),
	})
	if statements.ColumnsOf != "" {
		for _, table := range l.order {
			if table.Schema == schema && table.Kind != datamap.KindTable {
				columns.text = statements.ColumnsOf
				l.tolerate(ctx, func() { l.readParts(ctx, "", []part{columns}, table.Unnamed) })
			}
		}
	}
	if statements.IgnoresForeignKeys != "" && l.err == nil {
		found, err := l.query.Texts(ctx, statements.IgnoresForeignKeys)
		l.err, l.ignoresForeignKeys = err, len(found) > 0
	}
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

// readParts runs the statements of the parts as one statement, in the order of the parts. It omits empty statements.
// The text with is a list of common table expressions for them.
func (l *reader) readParts(ctx context.Context, with string, parts []part, args ...any) {
	if l.err != nil {
		return
	}
	var texts []string
	for i, part := range parts {
		if part.text != "" {
			texts = append(texts, "SELECT "+strconv.Itoa(i)+", p.* FROM ("+part.text+") AS p")
		}
	}
	l.err = l.query(ctx, func(rows *sql.Rows) error {
		var i, position int
		var key, object string
		if err := rows.Scan(&i, &key, &object, &position); err != nil {
			return err
		}
		return parts[i].take(key, object)
	}, with+" "+strings.Join(texts, " UNION ALL ")+" ORDER BY 1, 4", args...)
}

// readTexts runs a statement whose rows hold two texts, and passes the texts of each row to the callback. If the text
// of the statement is empty, readTexts does nothing.
func (l *reader) readTexts(ctx context.Context, text string, take func(key, value string)) {
	if l.err != nil || text == "" {
		return
	}
	l.err = l.query(ctx, func(rows *sql.Rows) error {
		var key, value string
		err := rows.Scan(&key, &value)
		take(key, value)
		return err
	}, text)
}

// tolerate calls readColumns, and ignores an error that concerns only one table. This table then has no columns.
// Examples are a view of a table that does not exist, and a virtual table whose module is not loaded.
func (l *reader) tolerate(ctx context.Context, readColumns func()) {
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
func (l *reader) qualify() {
	for _, table := range l.order {
		if table.FoldsCase && l.names[syntax.Lower(table.Unnamed)] != nil {
			table.Name = table.Schema + "." + table.Unnamed
		}
		l.names[syntax.Lower(table.Name)] = table
	}
	for _, table := range l.order {
		l.names[syntax.Lower(table.Schema+"."+strings.TrimPrefix(table.Unnamed, table.Schema+"."))] = table
	}
}

// statements holds the statements that read the catalog of a database (PostgreSQL) or of one schema (SQLite). A
// row of a result has three columns: the key of a table (a text that identifies the table), a JSON object with the
// fields that the reader decodes, and a number that sorts the objects of a table. There are four exceptions:
//
//   - The rows of Fingerprint and Encoding have no key, and a JSON text.
//   - A row of Routines starts with the key of a function.
//   - A row of ViewReads has the key of a view, and an object with a table that this view reads, and its columns.
//   - A row of Statistics has only the key of a table and its number of rows.
//
// A statement is empty if the database does not need it.
type statements struct {
	With string // the common table expressions of the statements in the next line

	Tables, Columns, Indexes, ForeignKeys, Checks, Triggers, ViewReads, Routines, Fingerprint string
	Publications, Partitions, Encoding                                                        string

	ColumnsOf          string // the columns of the view or virtual table with the name $1
	IgnoresForeignKeys string // returns a row if the connection does not enforce foreign keys

	HasStatistics string // returns a row if the database has statistics, which Statistics reads
	Statistics    string

	Untyped      bool // a column accepts values of any type; see datamap.Catalog
	SerialWrites bool // see datamap.Catalog
}
