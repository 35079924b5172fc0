package bunstore_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

// strayPath returns a PostgreSQL database. The first schema of its search path does not exist.
func strayPath(t *testing.T) *bun.DB {
	t.Helper()
	return openDB(t, "pgx", postgres.NewDatabase(t)+"&search_path=nowhere")
}

var schemas = []string{"privacy", `my"schema`, "it's", "Ünï cøde", "select", "a.b", "$1", "?0", `\"$habeas$ $do$ $$`}

// quoted returns the name of a schema as an SQL identifier.
func quoted(t testing.TB, db *bun.DB, schema string) (identifier string) {
	t.Helper()
	must(t, db.NewRaw("SELECT quote_ident(?)", schema).Scan(t.Context(), &identifier))
	return identifier
}

func TestTheTablesGoIntoTheSchemaThatOptionsName(t *testing.T) {
	t.Parallel()
	for _, schema := range schemas {
		t.Run(schema, func(t *testing.T) {
			db := strayPath(t)
			options := bunstore.Options{Schema: schema}
			must(t, bunstore.Migrate(t.Context(), db, options))
			made := catalog(t, db, quoted(t, db, schema))
			if tables := tablesIn(made); !slices.Equal(tables, ownTables) {
				t.Fatalf("the tables are %v", tables)
			}
			if elsewhere := catalog(t, db, "public"); len(elsewhere) > 0 {
				t.Errorf("in public there are %v", slices.Sorted(maps.Keys(elsewhere)))
			}
			must(t, bunstore.Migrate(t.Context(), db, options))
			wantCatalog(t, catalog(t, db, quoted(t, db, schema)), made)
		})
	}
}

func TestAnExistingSchemaIsUsedWithoutThePrivilegeToCreateOne(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	db.SetMaxOpenConns(1)
	var role string
	must(t, db.NewRaw("SELECT 'habeas_' || current_database()").Scan(t.Context(), &role))
	execute(t, db, "CREATE ROLE "+role, `CREATE SCHEMA "my""schema" AUTHORIZATION `+role, "SET ROLE "+role)
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), "RESET ROLE; DROP OWNED BY "+role+"; DROP ROLE "+role)
		must(t, err)
	})
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{Schema: `my"schema`}))
	err := bunstore.Migrate(t.Context(), db, bunstore.Options{Schema: "another"})
	wantSilence(t, err, "permission denied", "CREATE")
}

func TestAFailedMigrationRemovesItsSchema(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	execute(t, db, "CREATE SCHEMA busy", "CREATE TABLE busy.habeas_outbox (mine INTEGER)")
	for _, schema := range []string{"busy", "fresh"} {
		ctx := t.Context()
		if schema == "fresh" { // the database refuses to create objects
			execute(t, db, `CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no';`+
				` END $$`,
				"CREATE EVENT TRIGGER refuse ON ddl_command_end WHEN TAG IN ('CREATE TRIGGER') EXECUTE FUNCTION refuse()")
		}
		if err := bunstore.Migrate(ctx, db, bunstore.Options{Schema: schema}); err == nil {
			t.Errorf("%s: the migration succeeded", schema)
		}
	}
	if tables := tablesIn(catalog(t, db, "busy")); !slices.Equal(tables, []string{"habeas_outbox"}) {
		t.Errorf("busy has %v", tables)
	}
	var fresh bool
	must(t, db.NewRaw("SELECT to_regnamespace('fresh') IS NOT NULL").Scan(t.Context(), &fresh))
	if fresh {
		t.Error("the schema was made")
	}
}

func TestAStoreWorksInItsSchemaWhateverTheSearchPath(t *testing.T) {
	t.Parallel()
	for _, schema := range schemas {
		t.Run(schema, func(t *testing.T) {
			db := strayPath(t)
			options := bunstore.Options{Schema: schema}
			must(t, bunstore.Migrate(t.Context(), db, options))
			type Guest struct {
				bun.BaseModel `bun:"table:shop.guests"`
				ID            int64  `bun:"id,pk" subject:"id"`
				Name          string `bun:"name" pii:"identity,erasure:anonymize"`
			}
			execute(t, db, "CREATE SCHEMA shop")
			databases.Create(t, db, (*Guest)(nil))
			databases.Insert(t, db, &Guest{ID: 1, Name: "Alice"})

			dataMap := mapOf(t, db, []any{(*Guest)(nil)})
			store := storeOf(t, db, dataMap, options)
			eraser, err := erasure.NewEraser(
				erasure.Config{Clock: system.Clock{}, IDs: &system.IDs{}, DataMap: dataMap, Resolvers: []ports.Resolver{desk{}}},
			)
			must(t, err)
			subject := fixture.MustSubject(t, "1", domain.SubjectRef{Kind: "desk", Value: "c1"})
			must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				ledger := consent.NewLedger(system.Clock{}, &system.IDs{})
				if _, err := ledger.Record(ctx, s, subject.ID, grant("news")); err != nil {
					return err
				}
				if _, err := ledger.Status(ctx, s, subject.ID, "news"); err != nil {
					return err
				}
				result, err := eraser.Erase(ctx, s, subject)
				if err == nil && result.Anonymized["shop.guests"] != 1 {
					t.Errorf("got %+v", result)
				}
				return err
			}))
			must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				record := domain.RestrictionRecord{SubjectID: subject.ID, Restricted: true, RecordedAt: time.Now(), Source: "test"}
				if err := s.Restrictions().Append(ctx, record); err != nil {
					return err
				}
				global, _, err := s.Restrictions().Latest(ctx, subject.ID, nil)
				if err != nil {
					return err
				}
				trail, err := s.Audit().Trail(ctx, subject.ID)
				if global == nil || len(trail) != 5 {
					t.Errorf("the restriction is %v, and there are %d events", global, len(trail))
				}
				return err
			}))
			entries, err := db.NewSelect().TableExpr(quoted(t, db, schema) + ".habeas_outbox").Count(t.Context())
			if err != nil || entries != 1 {
				t.Errorf("%d outbox entries, %v", entries, err)
			}
		})
	}
}

func TestSQLiteHasNoSchemas(t *testing.T) {
	t.Parallel()
	db := databases.SQLite(t)
	dataMap := mapOf(t, db, models)
	options := bunstore.Options{Schema: "privacy"}
	_, newErr := bunstore.New(db, dataMap, options)
	for _, err := range []error{newErr, bunstore.Migrate(t.Context(), db, options)} {
		if !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("got %v", err)
		}
	}
}
