package app_test

import (
	"context"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestTheCatalogAndTheSearchCoverTheCompleteDatabase(t *testing.T) {
	gdpr, db := newIntegration(t)
	databases.Execute(t, db, "CREATE TABLE notes (body text)", "INSERT INTO notes VALUES ('ask anna@example.org')")
	wired := gdpr.Stack()
	prewired, err := app.New(app.Config{Stack: &wired})
	must(t, err)
	for name, gdpr := range map[string]*app.Integration{"wired": gdpr, "prewired": prewired} {
		live, err := gdpr.Operator().Catalog(t.Context())
		must(t, err)
		if _, ok := live.Table("notes"); !ok {
			t.Errorf("%s: a table outside the data map is not in the catalog", name)
		}
		calls := 0
		found, err := gdpr.Operator().Find(t.Context(), []string{"anna@example.org"}, func(search.Progress) { calls++ })
		must(t, err)
		want := search.Occurrence{Table: "notes", Column: "body", Rows: 1}
		if len(found.Occurrences) != 1 || found.Occurrences[0] != want || calls == 0 {
			t.Errorf("%s: found %v, and %d calls of progress", name, found.Occurrences, calls)
		}
	}
}

func TestAStackWithoutCatalogAndFinderIsAConfigurationError(t *testing.T) {
	gdpr, _ := newIntegration(t)
	wired := gdpr.Stack()
	wired.Catalog, wired.Finder = nil, nil
	gdpr, err := app.New(app.Config{Stack: &wired})
	must(t, err)
	for name, call := range map[string]func(context.Context) error{
		"Catalog": func(ctx context.Context) error { _, err := gdpr.Operator().Catalog(ctx); return err },
		"Satisfies": func(ctx context.Context) error {
			_, err := gdpr.Operator().Satisfies(ctx, "people", datamap.CatalogCheck{}, nil)
			return err
		},
		"Find": func(ctx context.Context) error {
			_, err := gdpr.Operator().Find(ctx, []string{"anna"}, nil)
			return err
		},
	} {
		if err := call(t.Context()); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s returned %v", name, err)
		}
	}
}
