package schemas

import (
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// A table of the application may have a name like those of habeas. The tables of another data map belong to habeas.
func TestATableThatIsNamedLikeThoseOfHabeasIsFoundAndReported(t *testing.T) {
	t.Parallel()
	const staff = "habeas_staff_"
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{Name: "staff"}))
		a := open(t, db, app.Config{Models: clients}, append(clientTables("clients"),
			"CREATE TABLE habeas_orders (id bigint PRIMARY KEY, client_id bigint, email text)",
			"INSERT INTO habeas_orders VALUES (1, 1, 'zoe@example.org')",
			"INSERT INTO "+staff+"restriction_records (subject_id, restricted, reason, recorded_at, source)"+
				" VALUES ('1', TRUE, 'zoe@example.org', '2024-03-01T12:00:00.000000Z', 'api')")...)
		found, err := a.Operator().Find(t.Context(), []string{"zoe@example.org"}, nil)
		must(t, err)
		want := search.Occurrence{Table: "habeas_orders", Column: "email", Rows: 1}
		if len(found.Occurrences) != 1 || found.Occurrences[0] != want {
			t.Errorf("found %v, want %v", found.Occurrences, want)
		}
		checked, err := a.check(t.Context())
		must(t, err)
		if !slices.ContainsFunc(checked.Findings, func(f datamap.Finding) bool { return f.Table == "habeas_orders" }) {
			t.Errorf("nothing about habeas_orders is in %v", checked.Findings)
		}
		for _, finding := range checked.Findings {
			if strings.HasPrefix(finding.Table, staff) || finding.Table == "habeas_outbox" {
				t.Errorf("a finding is about a table of habeas: %v", finding)
			}
		}
	})
}
