package live

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// readMigration returns a statement that reads the row with the given name from a table which records migrations. The
// row of the result has the two texts key and name.
func readMigration(key string, table datamap.CatalogTable, name string) string {
	return syntax.Fill(`SELECT CAST({key} AS text), CAST(name AS text) FROM {table} WHERE CAST(name AS text) = {name}`,
		"key", syntax.Literal(key), "table", syntax.QualifiedName(table), "name", syntax.Literal(name))
}

// ownName matches the names of the tables of habeas; see syntax.OwnNames.
var ownName = regexp.MustCompile(syntax.OwnNames())

// IsOwn reports whether a table of habeas may have the name, of any data map.
func IsOwn(name string) bool { return ownName.MatchString(name) }

// firstMigration is the name of the migration that creates the tables.
const firstMigration = "0001_habeas.sql"

// ownPlace is a schema and the prefix of a data map. At most one set of the tables of habeas is in an ownPlace.
type ownPlace struct{ schema, prefix string }

// placeOf returns the place and the rest of the table's name if the name is one that a table of habeas may have.
func placeOf(table *Table) (place ownPlace, rest string, ok bool) {
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
func (t *Table) nameInSchema() string {
	name := strings.TrimPrefix(t.Unnamed, t.Schema+".")
	if t.FoldsCase {
		return syntax.Lower(name)
	}
	return name
}

// removeOwn removes the tables of habeas, of all data maps. All other tables belong to the application, even if their
// names begin with habeas_. The columns and indexes of all tables must have been added before.
//
// A table belongs to habeas if its name is a prefix of a data map and one of syntax.TableNames, and if a witness in
// the same schema has the same prefix. A witness shows that migrations of habeas created the tables. It is one of:
//
//   - The table <prefix>migrations, which records the applied migrations. It has the columns name, which is the primary
//     key, applied_at, checksum and breaks. One of its rows has the name of the first migration. If the role must not
//     read the rows, the columns decide.
//   - The table <prefix>installation with its columns. It shows the tables of an application that runs the migrations
//     with its own tool, so that no table records them.
//
// Without a witness, the tables count as tables of the application: a search then reads too much rather than too
// little. removeOwn runs at most one statement, which reads the candidates of a first witness in all schemas that were
// read.
func (l *reader) removeOwn(ctx context.Context) {
	own := map[ownPlace]bool{}
	var candidates []*Table
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
	isOwn := func(table *Table) bool {
		place, _, ok := placeOf(table)
		return ok && own[place]
	}
	for key, table := range l.tables {
		if isOwn(table) {
			delete(l.tables, key)
		}
	}
	l.order = slices.DeleteFunc(l.order, func(table *Table) bool {
		if isOwn(table) {
			l.removed = append(l.removed, table)
			return true
		}
		return false
	})
}

// withFirstMigration returns the tables that record the first migration, each table at most once.
func (l *reader) withFirstMigration(ctx context.Context, candidates []*Table) (found []*Table) {
	var texts []string
	byKey := map[string]*Table{}
	for _, table := range candidates {
		key := table.Schema + "." + table.nameInSchema()
		byKey[key] = table
		texts = append(texts, readMigration(key, table.CatalogTable, firstMigration))
	}
	l.readTexts(ctx, strings.Join(texts, " UNION "), func(key, _ string) {
		if table := byKey[key]; table != nil && !slices.Contains(found, table) {
			found = append(found, table)
		}
	})
	return found
}

// recordsMigrations reports whether the columns are those of the table in which Migrate records the migrations.
func (t *Table) recordsMigrations() bool {
	return slices.Equal(t.PrimaryKey, []string{"name"}) && t.hasColumns("name", "applied_at", "checksum", "breaks")
}

func (t *Table) hasColumns(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return t.column(name) == nil })
}

func (t *Table) column(name string) *datamap.CatalogColumn {
	if i := slices.IndexFunc(t.Columns, func(c datamap.CatalogColumn) bool { return c.Name == name }); i >= 0 {
		return &t.Columns[i]
	}
	return nil
}

// isReadable reports whether the role reads all rows of a column.
func (t *Table) isReadable(column string) bool {
	return !t.RowSecurity && !slices.Contains(t.Missing, "SELECT") &&
		!slices.Contains(t.column(column).Missing, "SELECT")
}
