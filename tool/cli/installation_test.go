package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestTheInstallationIsShownAndRenewed(t *testing.T) {
	w := newWorld(t)
	first := decoded[datamap.Installation](w, 0, "installation", "show")
	stdout, _ := w.want(0, "installation", "show")
	if first.ID == "" || !strings.Contains(stdout, first.ID) || !strings.Contains(stdout, "not recorded yet") {
		t.Errorf("printed %s", stdout)
	}
	w.want(0, "erase", "1", "--yes", by)
	_, stderr := w.want(2, "installation", "renew")
	complains(t, stderr, "--yes")
	renewed := decoded[datamap.Installation](w, 0, "installation", "renew", "--yes")
	ancestors := []datamap.Ancestor{{ID: first.ID, Until: 1}}
	if renewed.ID == first.ID || !slices.Equal(renewed.Ancestors, ancestors) {
		t.Errorf("after the renewal it is %+v", renewed)
	}
	stdout, _ = w.want(0, "installation", "show")
	for _, part := range []string{renewed.ID, "customers (id text)", first.ID + " up to 1"} {
		if !strings.Contains(stdout, part) {
			t.Errorf("the page lacks %s:\n%s", part, stdout)
		}
	}
}

func TestMigrateUpAcceptsARenamedTableOnRequest(t *testing.T) {
	db := databases.SQLite(t)
	before, err := app.New(app.Config{DB: db, DataMap: dataMap(t)})
	must(t, err)
	w := &world{t: t, gdpr: before}
	_, err = db.NewRaw("CREATE TABLE customers (id TEXT PRIMARY KEY, email TEXT, plan TEXT)").Exec(t.Context())
	must(t, err)
	for _, table := range []string{"parcels", "invoices"} {
		_, err = db.NewRaw("CREATE TABLE " + table + " (id BIGINT PRIMARY KEY, customer_id TEXT, address TEXT)").
			Exec(t.Context())
		must(t, err)
	}
	w.want(0, "migrate", "up")
	_, err = db.NewRaw("INSERT INTO customers VALUES ('1', 'zoe@example.org', 'free')").Exec(t.Context())
	must(t, err)
	w.want(0, "erase", "1", "--yes", by)
	renamed, err := manifest.Read(strings.NewReader(strings.ReplaceAll(shop, `"customers"`, `"clients"`)))
	must(t, err)
	after, err := app.New(app.Config{DB: db, DataMap: renamed})
	must(t, err)
	w.gdpr = after
	for _, args := range [][]string{{"migrate", "up"}, {"installation", "show"}, {"trail", "1"}, {"status"}} {
		_, stderr := w.want(2, args...)
		complains(t, stderr, "customers (id text)", "clients (id text)", "--name", "migrate up --accept-map")
	}
	_, stderr := w.want(0, "migrate", "up", "--accept-map")
	for _, part := range []string{
		"belonged to the data map of customers (id text)", "to the data map of clients (id text) now",
	} {
		if !strings.Contains(stderr, part) {
			t.Errorf("the note lacks %q: %s", part, stderr)
		}
	}
	w.want(0, "trail", "1")
}
