package bunstore_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// Databases hold the checksums of the files, so a file never changes. A new migration is a new file.
func TestMigrationsAreAppendOnly(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"postgres/0001_habeas.sql": "63c773242e1031c9dd0d72d96c9349403bf621aaff1da13e3d22f6b3f368a03e",
		"sqlite/0001_habeas.sql":   "2c1060d0145691a31592ae48a2767fb16332d3f953de68dcdd90e922b3bd49df",
	} {
		text, err := os.ReadFile("migrations/" + file)
		must(t, err)
		sum := sha256.Sum256(text)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s was changed: its checksum is %s. Add another file instead", file, got)
		}
	}
}

// A migration that was applied with another text, or that this version does not know and cannot work with, is an error
// of everything that compares the migrations. The error names the migration and the remedy, and nothing is changed.
func TestChangedAndBreakingMigrationsAreRefused(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		change string
		says   []string
	}{
		"a migration with another text": {
			"UPDATE habeas_migrations SET checksum = 'f00' WHERE name = '0001_habeas.sql'",
			[]string{"0001_habeas.sql", "another text", "Use the version of habeas that applied"},
		},
		"a migration with an empty checksum": {
			"UPDATE habeas_migrations SET checksum = ''",
			[]string{"0001_habeas.sql", "another text", "Use the version of habeas that applied"},
		},
		"a changed migration beside one of a newer version": {
			"UPDATE habeas_migrations SET checksum = 'f00';" +
				"INSERT INTO habeas_migrations (name, checksum, breaks) VALUES ('0099_future.sql', 'f00', FALSE)",
			[]string{"0001_habeas.sql", "another text", "Use the version of habeas that applied"},
		},
		"a breaking migration of a newer version": {
			"INSERT INTO habeas_migrations (name, breaks) VALUES ('0099_future.sql', TRUE)",
			[]string{"0099_future.sql", "a newer version of habeas", "Use that version"},
		},
	} {
		for _, name := range []string{"", "staff"} {
			t.Run(what+" "+name, func(t *testing.T) {
				databases.Each(t, func(t *testing.T, db *bun.DB) {
					options := bunstore.Options{Name: name}
					must(t, bunstore.Migrate(t.Context(), db, options))
					store := storeOf(t, db, mapOf(t, db, models[:1]), options)
					table := datamap.ObjectPrefix(name) + "migrations"
					for change := range strings.SplitSeq(c.change, ";") {
						execute(t, db, strings.ReplaceAll(change, "habeas_migrations", table))
					}
					recorded := "SELECT name, checksum FROM " + table + " ORDER BY name"
					before := contents(t, db, recorded)
					_, states := bunstore.MigrationStates(t.Context(), db, options)
					for by, err := range map[string]error{
						"Migrate": bunstore.Migrate(t.Context(), db, options), "Probe": store.Probe(t.Context()),
						"MigrationStates": states,
					} {
						for _, part := range c.says {
							if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), part) {
								t.Errorf("%s: want an error with %q, got %v", by, part, err)
							}
						}
					}
					if after := contents(t, db, recorded); after != before {
						t.Errorf("the migrations are\n%s, and were\n%s", after, before)
					}
				})
			})
		}
	}
}

// contents returns the rows of a query, with all columns as texts.
func contents(t *testing.T, db *bun.DB, query string) string {
	t.Helper()
	var rows []map[string]any
	must(t, db.NewRaw(query).Scan(t.Context(), &rows))
	return fmt.Sprint(rows)
}
