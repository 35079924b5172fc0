package app_test

import (
	"errors"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports/mocks"
)

func person(t *testing.T) (domain.DataMap, *memory.Store) {
	t.Helper()
	dataMap, err := domain.NewDataMap(domain.Table{
		Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []domain.Column{
			{Name: "id", Type: domain.TypeBigInt},
			{Name: "mail", Type: domain.TypeText, Personal: &domain.Annotation{Category: domain.CategoryContact}},
		},
	})
	must(t, err)
	store, err := memory.New(dataMap, memory.Options{})
	must(t, err)
	return dataMap, store
}

func TestAStackWithoutACatalogHasNoChecker(t *testing.T) {
	dataMap, store := person(t)
	services, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	must(t, err)
	gdpr, err := app.New(app.Config{Stack: &services})
	must(t, err)
	if found, err := gdpr.Check(t.Context()); !errors.Is(err, domain.ErrConfiguration) || found != nil {
		t.Errorf("got %v, %v", found, err)
	}
}

func TestAStackChecksItsCatalog(t *testing.T) {
	dataMap, store := person(t)
	for _, trusts := range []bool{false, true} {
		reader := mocks.NewMockCatalogReader(gomock.NewController(t))
		reader.EXPECT().Catalog(gomock.Any()).Return(domain.Catalog{Tables: []domain.CatalogTable{{
			Name: "people", Kind: domain.KindTable, PrimaryKey: []string{"id"}, RowSecurity: true,
			Indexes: []domain.CatalogIndex{{Columns: []string{"id"}}},
			Columns: []domain.CatalogColumn{
				{Name: "id", Type: domain.TypeBigInt}, {Name: "mail", Type: domain.TypeText},
			},
		}}}, nil)
		services, err := stack.New(stack.Config{
			Sessions: store, DataMap: dataMap, Catalog: reader, TrustRowFilters: trusts,
		})
		must(t, err)
		gdpr, err := app.New(app.Config{Stack: &services})
		must(t, err)
		found, err := gdpr.Check(t.Context())
		if must(t, err); (len(found) == 0) != trusts {
			t.Errorf("trusted %t: found %v", trusts, found)
		}
	}
}

func TestAnIntegrationChecksItsDatabase(t *testing.T) {
	for table, healthy := range map[string]bool{"people": true, "persons": false} {
		dataMap, _ := person(t)
		db := databases.SQLite(t)
		_, err := db.Exec("CREATE TABLE " + table + " (id INTEGER PRIMARY KEY, mail TEXT)")
		must(t, err)
		gdpr, err := app.New(app.Config{DB: db, DataMap: dataMap})
		must(t, err)
		found, err := gdpr.Check(t.Context())
		must(t, err)
		if err := domain.Errors(found); (err == nil) != healthy {
			t.Errorf("%s: %v", table, err)
		}
	}
}
