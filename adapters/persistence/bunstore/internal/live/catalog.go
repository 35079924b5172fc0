package live

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// liveTable is a table during ReadCatalog. It has the properties of datamap.CatalogTable, and further properties from
// which ReadCatalog derives them.
type liveTable struct {
	datamap.CatalogTable
	Text    string `json:"text"`    // the definition of a view; on SQLite, of any table
	Secured bool   `json:"secured"` // the table has row-level security, even if that does not apply to this role

	unnamed  string // the name without a schema
	keyed    bool   // the table has an index on its primary key
	shadow   bool   // the table holds the rows of a virtual table of SQLite
	triggers []*liveTrigger
}

// isTemporary reports whether the table is a temporary table of SQLite. ReadCatalog omits such tables, because only one
// connection can use them.
func (t *liveTable) isTemporary() bool { return t.FoldsCase && t.Schema == "temp" }

// reader is the state of one call of ReadCatalog.
type reader struct {
	d        syntax.Dialect
	own      dialect
	query    conn.Query
	tables   map[string]*liveTable // by schema and key (a key identifies a table in its schema)
	order    []*liveTable          // in the order of reading
	names    map[string]*liveTable // by each name that a definition may use for the table, in lower case
	routines map[string]*routine   // by key
	named    map[string][]*routine // by name, in lower case; created on first use
	err      error                 // the first error
}

// ReadCatalog reads the definitions of all tables of the database, without the tables of habeas of any data map. It
// runs one statement on PostgreSQL, and at most three statements for each schema of SQLite. It runs at most one more
// statement for the tables of habeas. SQLite needs one more statement for each view and each virtual table.
func ReadCatalog(ctx context.Context, query conn.Query, d syntax.Dialect) (datamap.Catalog, error) {
	l := &reader{d: d, own: dialectOf(d), query: query, tables: map[string]*liveTable{}, routines: map[string]*routine{}}
	schemas, err := Schemas(ctx, query, d)
	if err != nil {
		return datamap.Catalog{}, err
	}
	catalog := datamap.Catalog{Tables: []datamap.CatalogTable{}}
	for _, schema := range schemas {
		statements := l.own.catalog(schema)
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
	of := func(key string) *liveTable {
		if table := l.tables[schema+"."+key]; table != nil {
			return table
		}
		return &liveTable{} // for a table that is not listed
	}
	columns := partOf(statements.Columns, func(key string, column *liveColumn) { l.addColumn(of(key), column) })
	l.readParts(ctx, statements.With, []part{
		partOf(statements.Tables, func(key string, table *liveTable) {
			table.unnamed = table.Name
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
		partOf(statements.ViewReads, func(key string, read *viewRead) { of(key).addRead(*read) }),
	})
	if statements.ColumnsOf != "" {
		for _, table := range l.order {
			if table.Schema == schema && table.Kind != datamap.KindTable {
				columns.text = statements.ColumnsOf
				l.tolerate(ctx, func() { l.readParts(ctx, "", []part{columns}, table.unnamed) })
			}
		}
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
	l.names = map[string]*liveTable{}
	for _, table := range l.order {
		if table.FoldsCase && l.names[Lower(table.unnamed)] != nil {
			table.Name = table.Schema + "." + table.unnamed
		}
		l.names[Lower(table.Name)] = table
	}
	for _, table := range l.order {
		l.names[Lower(table.Schema+"."+strings.TrimPrefix(table.unnamed, table.Schema+"."))] = table
	}
}

// Lower converts ASCII letters to lower case, as SQLite does to compare names.
func Lower(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, name)
}

// statements holds the statements that read the catalog of a database (PostgreSQL) or of one schema (SQLite). A
// row of a result has three columns: the key of a table (a text that identifies the table), a JSON object with the
// fields that the reader decodes, and a number that sorts the objects of a table. There are three exceptions:
//
//   - A row of Routines starts with the key of a function.
//   - A row of ViewReads has the key of a view, and an object with a table that this view reads, and its columns.
//   - A row of Statistics has only the key of a table and its number of rows.
//
// A statement is empty if the database does not need it.
type statements struct {
	With string // the common table expressions of the statements in the next line

	Tables, Columns, Indexes, ForeignKeys, Checks, Triggers, ViewReads, Routines string

	ColumnsOf     string // the columns of the view or virtual table with the name $1
	HasStatistics string // returns a row if the database has statistics, which Statistics reads
	Statistics    string

	Untyped      bool // a column accepts values of any type; see datamap.Catalog
	SerialWrites bool // see datamap.Catalog
}

// readMigrations returns a statement that reads the rows of a table which records migrations, but only the rows with
// these names. Each row of the result has the two texts key and name.
func readMigrations(key string, table datamap.CatalogTable, names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = syntax.Literal(name)
	}
	return syntax.Fill(`SELECT CAST({key} AS text), CAST(name AS text) FROM {table} WHERE CAST(name AS text) IN ({names})`,
		"key", syntax.Literal(key), "table", syntax.QualifiedName(table), "names", strings.Join(quoted, ", "))
}

// ownName matches the names of the tables of habeas; see syntax.OwnNames.
var ownName = regexp.MustCompile(syntax.OwnNames())

// IsOwn reports whether a table of habeas may have the name, of any data map.
func IsOwn(name string) bool { return ownName.MatchString(name) }

// firstMigrations are the names of the migrations that have created the first tables, in all versions of habeas.
var firstMigrations = []string{"0001_habeas.sql", "0001_ledgers.sql"}

// ownPlace is a schema and the prefix of a data map. At most one set of the tables of habeas is in an ownPlace.
type ownPlace struct{ schema, prefix string }

// placeOf returns the place and the rest of the table's name if the name is one that a table of habeas may have.
func placeOf(table *liveTable) (place ownPlace, rest string, ok bool) {
	if table.Kind != datamap.KindTable && table.Kind != datamap.KindPartitioned {
		return ownPlace{}, "", false
	}
	parts := ownName.FindStringSubmatch(table.nameInSchema())
	if parts == nil {
		return ownPlace{}, "", false
	}
	return ownPlace{table.Schema, parts[1]}, parts[2], true
}

// nameInSchema returns the name of the table without its schema. On SQLite, it is in lower case.
func (t *liveTable) nameInSchema() string {
	name := strings.TrimPrefix(t.unnamed, t.Schema+".")
	if t.FoldsCase {
		return Lower(name)
	}
	return name
}

// removeOwn removes the tables of habeas, of all data maps. All other tables belong to the application, even if their
// names begin with habeas_. The columns and indexes of all tables must have been
// added before.
//
// A table belongs to habeas if its name is a prefix of a data map and one of syntax.TableNames, and if a witness in
// the same schema has the same prefix. A witness shows that migrations of habeas created the tables. It is one of:
//
//   - The table <prefix>migrations, which records the applied migrations. It has the columns name, which is the primary
//     key, and applied_at, and at most the further column checksum. One of its rows has the name of a first migration.
//     If the role must not read the rows, the columns decide.
//   - The table <prefix>installation with its columns. It shows the tables of an application that runs the migrations
//     with its own tool, so that no table records them.
//
// Without a witness, the tables count as tables of the application: a search then reads too much rather than too
// little. removeOwn runs at most one statement, which reads the candidates of a first witness in all schemas that were
// read.
func (l *reader) removeOwn(ctx context.Context) {
	own := map[ownPlace]bool{}
	var candidates []*liveTable
	for _, table := range l.order {
		place, rest, ok := placeOf(table)
		switch {
		case !ok:
		case rest == "installation" && table.hasColumns("installation", "subject_table", "key_columns"):
			own[place] = true
		case rest != "migrations" || !table.recordsMigrations():
		case table.isReadable("name"):
			candidates = append(candidates, table)
		default:
			own[place] = true
		}
	}
	for _, table := range l.withFirstMigration(ctx, candidates) {
		place, _, _ := placeOf(table)
		own[place] = true
	}
	isOwn := func(table *liveTable) bool {
		place, _, ok := placeOf(table)
		return ok && own[place]
	}
	for key, table := range l.tables {
		if isOwn(table) {
			delete(l.tables, key)
		}
	}
	l.order = slices.DeleteFunc(l.order, isOwn)
}

// withFirstMigration returns the tables that record one of the firstMigrations, each table at most once.
func (l *reader) withFirstMigration(ctx context.Context, candidates []*liveTable) (found []*liveTable) {
	var texts []string
	byKey := map[string]*liveTable{}
	for _, table := range candidates {
		key := table.Schema + "." + table.nameInSchema()
		byKey[key] = table
		texts = append(texts, readMigrations(key, table.CatalogTable, firstMigrations))
	}
	l.readTexts(ctx, strings.Join(texts, " UNION "), func(key, _ string) {
		if table := byKey[key]; table != nil && !slices.Contains(found, table) {
			found = append(found, table)
		}
	})
	return found
}

// recordsMigrations reports whether the columns are those of the table in which Migrate records the migrations.
func (t *liveTable) recordsMigrations() bool {
	further := len(t.Columns) == 3 && t.hasColumns("checksum")
	return slices.Equal(t.PrimaryKey, []string{"name"}) && t.hasColumns("name", "applied_at") &&
		(further || len(t.Columns) == 2)
}

func (t *liveTable) hasColumns(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return t.column(name) == nil })
}

func (t *liveTable) column(name string) *datamap.CatalogColumn {
	if i := slices.IndexFunc(t.Columns, func(c datamap.CatalogColumn) bool { return c.Name == name }); i >= 0 {
		return &t.Columns[i]
	}
	return nil
}

// isReadable reports whether the role reads all rows of a column.
func (t *liveTable) isReadable(column string) bool {
	return !t.RowSecurity && !slices.Contains(t.Missing, "SELECT") &&
		!slices.Contains(t.column(column).Missing, "SELECT")
}
