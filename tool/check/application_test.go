package check_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/golang/mock/gomock"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
	"github.com/habeas-data/habeas/tool/check"
)

type Person struct {
	bun.BaseModel `bun:"table:persons"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

func person(t *testing.T) (datamap.DataMap, *memory.Store) {
	t.Helper()
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "mail", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact}},
		},
	})
	must(t, err)
	store, err := memory.New(dataMap, memory.Options{})
	must(t, err)
	return dataMap, store
}

// checkOf checks the data map of an application.
func checkOf(t *testing.T, gdpr *app.Integration) (check.Result, error) {
	t.Helper()
	operator := gdpr.Operator()
	return check.Run(t.Context(), operator, gdpr.DataMap(), gdpr.Plan(), check.Options{Registers: operator.Registers})
}

func TestAStackWithoutACatalogCannotBeChecked(t *testing.T) {
	dataMap, store := person(t)
	services, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	must(t, err)
	gdpr, err := app.New(app.Config{Stack: &services})
	must(t, err)
	found, err := checkOf(t, gdpr)
	if !errors.Is(err, domain.ErrConfiguration) || found.Findings != nil {
		t.Errorf("got %v, %v", found, err)
	}
}

// An acceptance ends a finding. It does not end what erasures and exports refuse.
func TestAnAcceptedFindingIsNoRefusalLess(t *testing.T) {
	db := databases.PostgreSQL(t)
	for _, statement := range []string{
		"CREATE TABLE persons (id BIGINT PRIMARY KEY, email TEXT)", "INSERT INTO persons VALUES (1, 'anna@example.org')",
		"ALTER TABLE persons ENABLE ROW LEVEL SECURITY", "ALTER TABLE persons FORCE ROW LEVEL SECURITY",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		must(t, err)
	}
	role := "habeas_accepted"
	for _, statement := range []string{
		"DROP ROLE IF EXISTS " + role, "CREATE ROLE " + role, "GRANT ALL ON SCHEMA public TO " + role,
		"ALTER TABLE persons OWNER TO " + role,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		must(t, err)
	}
	t.Cleanup(func() {
		_, _ = db.ExecContext(context.Background(), "RESET ROLE; DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role)
	})
	db.SetMaxOpenConns(1)
	_, err := db.ExecContext(t.Context(), "SET ROLE "+role)
	must(t, err)
	config := app.Config{DB: db, Models: []any{(*Person)(nil)}}
	gdpr, err := app.New(config)
	must(t, err)
	checked, err := checkOf(t, gdpr)
	must(t, err)
	found := checked.Findings
	at := slices.IndexFunc(found, func(f datamap.Finding) bool { return f.Code == "row-security" })
	if at < 0 {
		t.Fatalf("found %v", found)
	}
	config.Accepted = []datamap.Acceptance{{
		Rule: found[at].Code, Table: found[at].Table, Column: found[at].Column, Object: found[at].Object,
		Reason: "no policy hides a row", Until: "9999-12-31",
	}}
	gdpr, err = app.New(config)
	must(t, err)
	result, err := checkOf(t, gdpr)
	if err != nil || len(result.Findings) != len(found)-1 || len(result.Accepted) != 1 ||
		result.Accepted[0].Acceptance != config.Accepted[0] {
		t.Errorf("got %+v, %v", result, err)
	}
	must(t, gdpr.Migrate(t.Context()))
	anna, err := domain.NewSubject("1")
	must(t, err)
	if _, err := gdpr.Operator().Erase(t.Context(), anna); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("an erasure: %v", err)
	}
	config.Accepted[0].Reason = ""
	if _, err := app.New(config); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("without a reason: %v", err)
	}
}

func TestAStackChecksItsCatalog(t *testing.T) {
	dataMap, store := person(t)
	for _, trusts := range []bool{false, true} {
		reader := mocks.NewMockCatalogReader(gomock.NewController(t))
		reader.EXPECT().Catalog(gomock.Any()).Return(datamap.Catalog{
			TrustsRowFilters: trusts,
			Tables: []datamap.CatalogTable{{
				Name: "people", Kind: datamap.KindTable, PrimaryKey: []string{"id"}, RowSecurity: true,
				Indexes: []datamap.CatalogIndex{{Columns: []string{"id"}}},
				Columns: []datamap.CatalogColumn{
					{Name: "id", Type: datamap.TypeBigInt}, {Name: "mail", Type: datamap.TypeText},
				},
			}},
		}, nil)
		services, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap, Catalog: reader})
		must(t, err)
		gdpr, err := app.New(app.Config{Stack: &services})
		must(t, err)
		found, err := checkOf(t, gdpr)
		if must(t, err); (check.Errors(found.Findings) == nil) != trusts {
			t.Errorf("trusted %t: found %v", trusts, found)
		}
	}
}

func TestAnIntegrationChecksItsDatabase(t *testing.T) {
	for table, healthy := range map[string]bool{"people": true, "persons": false} {
		dataMap, _ := person(t)
		db := databases.SQLite(t)
		_, err := db.Exec("CREATE TABLE " + table + " (id INTEGER PRIMARY KEY AUTOINCREMENT, mail TEXT)")
		must(t, err)
		gdpr, err := app.New(app.Config{DB: db, DataMap: dataMap})
		must(t, err)
		found, err := checkOf(t, gdpr)
		must(t, err)
		if err := check.Errors(found.Findings); (err == nil) != healthy {
			t.Errorf("%s: %v", table, err)
		}
	}
}

func TestAnApplicationThatRegistersPeopleMayReuseNumbers(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		dataMap, _ := person(t)
		ada, err := domain.NewSubject("1")
		must(t, err)
		id := "id INTEGER PRIMARY KEY"
		if db.Dialect().Name() == dialect.PG {
			id = "id bigint GENERATED BY DEFAULT AS IDENTITY (CYCLE) PRIMARY KEY"
		}
		_, err = db.Exec("CREATE TABLE people (" + id + ", mail TEXT)")
		must(t, err)
		gdpr, err := app.New(app.Config{DB: db, DataMap: dataMap})
		must(t, err)
		expect := func(when string, codes ...string) {
			t.Helper()
			found, err := checkOf(t, gdpr)
			must(t, err)
			var got []string
			for _, finding := range found.Findings {
				got = append(got, finding.Code)
			}
			if !slices.Equal(got, codes) {
				t.Errorf("%s: %q", when, got)
			}
		}
		expect("before the migration", "life-unknown", "key-reused")
		must(t, gdpr.Migrate(t.Context()))
		expect("before a registration", "life-unknown", "key-reused")
		_, err = db.Exec("INSERT INTO people (mail) VALUES ('ada@shop.example')")
		must(t, err)
		for range 2 {
			must(t, gdpr.Sessions().Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				return gdpr.Registered(ctx, s, ada)
			}))
			expect("after a registration")
		}
	})
}
