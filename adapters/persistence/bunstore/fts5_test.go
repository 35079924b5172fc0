package bunstore_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
)

// The page about operation recommends statements for full-text indexes. Each must be valid in SQLite.
func TestTheStatementsForFullTextIndexesAreValid(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/relies-on.md")
	must(t, err)
	db := databases.SQLite(t)
	execute(t, db, `CREATE VIRTUAL TABLE notes_fts USING fts5 (body)`)
	statements := regexp.MustCompile("`(INSERT INTO notes_fts[^`]*)`").FindAllStringSubmatch(string(page), -1)
	if len(statements) != 2 {
		t.Fatalf("the page has %d statements", len(statements))
	}
	for _, statement := range statements {
		execute(t, db, statement[1])
	}
}
