package bunstore_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// A verification ignores a row only if its creation time is after the erasure in each zone that the value can mean. The
// databases must judge this as the domain does.
func TestAVerificationIgnoresRowsThatAreLaterInEveryZone(t *testing.T) {
	t.Parallel()
	texts := addedTexts()
	texts = append(texts, randomTexts(texts, 150)...)
	dataMap := fixture.MustMap(t, datamap.Table{
		Name: "members", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeInteger}},
	}, datamap.Table{
		Name: "notes", PrimaryKey: []string{"id"}, Owned: true, Relations: []datamap.Relation{{
			Columns: []string{"id"}, References: "members", ReferencedColumns: []string{"id"},
		}},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeInteger}, {Name: "created_at"}},
	})
	planned := planOf(t, dataMap)
	erasedAt := time.Date(2024, 2, 28, 22, 30, 15, 123_456_000, time.UTC) // between the local times of many texts
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		execute(t, db, "CREATE TABLE members (id integer PRIMARY KEY)",
			"CREATE TABLE notes (id integer PRIMARY KEY, created_at text)")
		store := storeOf(t, db, dataMap, bunstore.Options{})
		a := &application{db, store, planned}
		later := 0
		for i, text := range texts {
			_, err := db.ExecContext(t.Context(), "INSERT INTO notes VALUES (?, ?)", i+1, text)
			must(t, err)
			at, ok := plan.EarliestAddedAt(text)
			isLater := ok && at.After(erasedAt)
			if isLater {
				later++
			}
			if found := a.leftOver(t, erasedAt, strconv.Itoa(i+1)); len(found) == 0 != isLater {
				t.Errorf("%q: left over are %q, and the row was certainly added later: %v", text, found, isLater)
			}
		}
		if later < 50 || later > len(texts)/2 {
			t.Errorf("%d of %d texts are later", later, len(texts))
		}
	})
}
