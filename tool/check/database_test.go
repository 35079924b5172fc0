package check_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// evaluating returns the catalog of a world. PostgreSQL evaluates the constraints.
type evaluating struct {
	memory.Schema
	database *bunstore.Schema
}

func (e evaluating) Satisfies(
	ctx context.Context, table string, check datamap.CatalogCheck, rows []map[string]any,
) ([]datamap.Verdict, error) {
	return e.database.Satisfies(ctx, table, check, rows)
}

// reader returns a reader of the catalog of the world. If the catalog has CHECK constraints, they are created in
// PostgreSQL, and the catalog has them as PostgreSQL returns them.
func (w *world) reader(t *testing.T) ports.CatalogReader {
	t.Helper()
	if !slices.ContainsFunc(w.catalog.Tables, func(t datamap.CatalogTable) bool { return len(t.Checks) > 0 }) {
		return memory.NewSchema(w.catalog)
	}
	if w.db == nil {
		w.db = func() *bun.DB { return databases.PostgreSQL(t) }
	}
	db := w.db()
	execute(t, db, "DROP SCHEMA public CASCADE")
	execute(t, db, "CREATE SCHEMA public")
	execute(t, db, `CREATE FUNCTION is_email(mail text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS
		'BEGIN RAISE EXCEPTION ''unknown''; END'`)
	for _, table := range w.catalog.Tables {
		create(t, db, table)
	}
	schema, err := bunstore.NewSchema(db, bunstore.Options{})
	must(t, err)
	catalog, err := schema.Catalog(t.Context())
	must(t, err)
	for _, table := range catalog.Tables {
		if at := w.live(table.Name); len(at.Checks) != len(table.Checks) {
			t.Fatalf("%s has %d constraints, want %d", table.Name, len(table.Checks), len(at.Checks))
		}
		w.live(table.Name).Checks = table.Checks
	}
	return evaluating{memory.NewSchema(w.catalog), schema}
}

// create creates a table with its columns and its CHECK constraints. A constraint with the name VALUE is that of a
// domain.
func create(t *testing.T, db *bun.DB, table datamap.CatalogTable) {
	t.Helper()
	domains := map[string]string{}
	var parts []string
	for _, check := range table.Checks {
		text := "CONSTRAINT " + cmp.Or(check.Name, "checked") + " CHECK (" + strings.TrimPrefix(check.Text, "CHECK ") + ")"
		if strings.Contains(check.Text, "VALUE") {
			name := check.Columns[0] + "_domain"
			domains[check.Columns[0]] = name
			execute(t, db, "CREATE DOMAIN "+name+" AS text "+text)
			continue
		}
		parts = append(parts, text)
	}
	for _, column := range table.Columns {
		declared := map[datamap.ColumnType]string{datamap.TypeTime: "timestamptz"}[column.Type]
		parts = append(parts, column.Name+" "+cmp.Or(domains[column.Name], declared, string(column.Type)))
	}
	execute(t, db, "CREATE TABLE "+table.Name+" ("+strings.Join(parts, ", ")+")")
}

func execute(t *testing.T, db *bun.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	must(t, err)
}
