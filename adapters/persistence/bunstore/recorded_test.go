package bunstore_test

import (
	"context"
	"slices"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// A program without a data map finds the installations of a database, and the subject table of each.
func TestInstallationsAreReadWithoutADataMap(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		for _, statement := range []string{
			"CREATE TABLE members (code TEXT PRIMARY KEY)", "CREATE TABLE habeas_of_the_application_installation (id INTEGER)",
			"CREATE TABLE habeas_staff (id INTEGER)",
		} {
			execute(t, db, statement)
		}
		want := func(names ...string) {
			t.Helper()
			got, err := bunstore.InstalledNames(t.Context(), db, bunstore.Options{})
			if err != nil || !slices.Equal(got, names) {
				t.Errorf("the names are %q, %v", got, err)
			}
		}
		want()
		club := bunstore.Options{Name: "club"}
		if _, err := bunstore.ReadInstallation(t.Context(), db, club); err == nil {
			t.Error("an installation without tables is read")
		}
		must(t, bunstore.Migrate(t.Context(), db, club))
		want("club")
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		want("club", "")

		before, err := bunstore.ReadInstallation(t.Context(), db, club)
		if err != nil || before.ID == "" || before.SubjectTable != "" {
			t.Errorf("before the first session: %+v, %v", before, err)
		}
		members := fixture.MustMap(t, datamap.Table{
			Name: "members", PrimaryKey: []string{"code"}, SubjectKey: []string{"code"},
			Columns: []datamap.Column{{Name: "code", Type: datamap.TypeText}},
		})
		store := storeOf(t, db, members, club)
		must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			return errOf(s.Subjects().Lock(ctx, subjectID(t, "a"), noon))
		}))
		after, err := bunstore.ReadInstallation(t.Context(), db, club)
		must(t, err)
		if after.ID != before.ID || after.Check(members) != nil {
			t.Errorf("after the first session: %+v", after)
		}
		if _, err := bunstore.InstalledNames(t.Context(), db, bunstore.Options{Name: "X"}); err == nil {
			t.Error("a wrong name is accepted")
		}
	})
}
