package bunstore_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// Databases hold the checksums of the files, so a file never changes. A new migration is a new file.
func TestMigrationsAreAppendOnly(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"postgres/0001_habeas.sql":       "947d71d3b9e0e1f25792aaa70a5a77bb6a6b9104889bb9cddd910a5390ce81dd",
		"postgres/0002_installation.sql": "757708b7e9c3d1304ed68723191cccbfa45138be851130f36dc3cef901b36b4f",
		"sqlite/0001_habeas.sql":         "199fd5282441c6900de629f646520a2dcee5f98ab7e5a66759ab6662b206a248",
		"sqlite/0002_installation.sql":   "1a00ab1b1e4954a5d25efee11482fb5934c4cdb60af815d6f2bf3e9589a647a9",
	} {
		text, err := os.ReadFile("migrations/" + file)
		must(t, err)
		sum := sha256.Sum256(text)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s was changed: its checksum is %s. Add another file instead", file, got)
		}
	}
}

// A migration that was applied with another text, or that this version does not know, is an error of everything that
// compares the migrations. The error names the migration and the remedy, and nothing is changed.
func TestChangedAndUnknownMigrationsAreRefused(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		change string
		says   []string
	}{
		"a first migration with another text": {
			"UPDATE habeas_migrations SET checksum = 'f00' WHERE name = '0001_habeas.sql'",
			[]string{"0001_habeas.sql", "another text", "Use the version of habeas that applied"},
		},
		"a later migration with another text": {
			"UPDATE habeas_migrations SET checksum = '' WHERE name = '0002_installation.sql'",
			[]string{"0002_installation.sql", "another text", "Use the version of habeas that applied"},
		},
		"a changed migration, while another is pending": {
			"UPDATE habeas_migrations SET checksum = 'f00' WHERE name = '0001_habeas.sql';" +
				"DELETE FROM habeas_migrations WHERE name = '0002_installation.sql'",
			[]string{"0001_habeas.sql", "another text", "Use the version of habeas that applied"},
		},
		"an unknown migration": {
			"INSERT INTO habeas_migrations (name) VALUES ('0099_future.sql')",
			[]string{"0099_future.sql", "A newer version of habeas", "use that version"},
		},
	} {
		for _, name := range []string{"", "staff"} {
			t.Run(what+" "+name, func(t *testing.T) {
				databases.Each(t, func(t *testing.T, db *bun.DB) {
					options := bunstore.Options{Name: name}
					must(t, bunstore.Migrate(t.Context(), db, options))
					dataMap, err := bunmodels.Read(db, models[:1], nil)
					must(t, err)
					store, err := bunstore.New(db, dataMap, options)
					must(t, err)
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
