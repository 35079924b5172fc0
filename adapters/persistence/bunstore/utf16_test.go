package bunstore_test

import (
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// eachEncoding runs a test with a new file of each encoding of SQLite.
func eachEncoding(t *testing.T, run func(t *testing.T, db *bun.DB)) {
	t.Helper()
	for _, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			db := databases.Drivers()[0].Open(t,
				"file:"+filepath.Join(t.TempDir(), "test.db")+"?_pragma=encoding('"+encoding+"')&_pragma=foreign_keys(1)")
			var stored string
			must(t, db.NewRaw("PRAGMA encoding").Scan(t.Context(), &stored))
			if stored != encoding {
				t.Fatalf("the file has the encoding %s", stored)
			}
			run(t, db)
		})
	}
}

func TestFindReadsTextsAndBlobsInEveryEncodingOfSQLite(t *testing.T) {
	t.Parallel()
	eachEncoding(t, func(t *testing.T, db *bun.DB) {
		_, store := applicationWith(t, db, []string{
			`CREATE TABLE people (id INTEGER PRIMARY KEY)`,
			`CREATE TABLE cells (bytes BLOB, text TEXT, hidden TEXT, cast BLOB, document BLOB, digits BLOB, empty BLOB)`,
		})
		for _, name := range []string{"x Zoë 😀 Müller, y", "another"} {
			_, err := db.DB.ExecContext(t.Context(),
				`INSERT INTO cells VALUES (?, ?, ?, CAST(? AS BLOB), jsonb_array(?), ?, x'')`,
				[]byte(name), name, "a\x00"+name, name, name, hex.AppendEncode(nil, []byte(name)))
			must(t, err)
		}
		for _, sought := range []string{"Zoë 😀 Müller", "zoË 😀 mÜller", "müller", "😀 M", "oë 😀"} {
			found, err := store.Find(t.Context(), []string{sought}, nil)
			must(t, err)
			isListed(t, "occurrences of "+sought, found.Occurrences,
				onceIn("cells", "bytes", "text", "hidden", "cast", "document", "digits"))
		}
	})
}

// encodedNote is a note whose other columns a trigger may fill with copies.
type encodedNote struct {
	bun.BaseModel `bun:"table:notes"`
	ID            int64   `bun:"id,pk"`
	OwnerID       int64   `bun:"owner_id"`
	Owner         *person `bun:"rel:belongs-to,join:owner_id=id"`
	Name          string  `bun:"name" pii:"identity"`
	Photo         []byte  `bun:"photo"`
	Copy          string  `bun:"copy"`
}

func TestCopiesAreFoundInEveryEncodingOfSQLite(t *testing.T) {
	t.Parallel()
	const name = "Zoë 😀 Müller"
	large := strings.Repeat("é", 1<<19) // with the name over 1 MiB in UTF-8
	for kept, c := range map[string]struct {
		trigger string
		photo   []byte
		copies  bool
	}{
		"no copy":                 {"copy = 'no', photo = x'00ff'", []byte("photo"), false},
		"a large cell":            {"copy = '" + large + "', photo = CAST(x'ff' || old.photo AS blob)", []byte(large), false},
		"a text":                  {"copy = 'was ' || old.name", nil, true},
		"a large text":            {"copy = '" + large + "' || old.name", nil, true},
		"a large text before":     {"copy = old.name || '" + large + "'", nil, true},
		"bytes of the file":       {"photo = CAST('was ' || old.name AS blob)", nil, true},
		"bytes in UTF-8":          {"photo = x'776173205a6fc3ab20f09f9880204dc3bc6c6c6572'", nil, true},
		"large bytes of the file": {"photo = CAST('" + large + "' || old.name AS blob)", nil, true},
	} {
		t.Run(kept, func(t *testing.T) {
			t.Parallel()
			eachEncoding(t, func(t *testing.T, db *bun.DB) {
				a := newApplication(t, db, nil, (*person)(nil), (*encodedNote)(nil))
				a.insert(t, &person{ID: 1}, &encodedNote{ID: 1, OwnerID: 1, Name: name, Photo: c.photo})
				execute(t, db, "CREATE TRIGGER keep AFTER UPDATE OF name ON notes BEGIN UPDATE notes SET "+c.trigger+
					" WHERE id = old.id; END")
				err := a.tryErase(t, "1")
				if c.copies {
					fixture.WantCode(t, err, domain.ErrLeftOver)
					return
				}
				must(t, err)
			})
		})
	}
}
