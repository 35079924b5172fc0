// Package mattn runs the tests of every store on SQLite with the driver mattn/go-sqlite3, which needs cgo.
package mattn

import (
	"testing"

	_ "github.com/mattn/go-sqlite3" // driver "sqlite3"

	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/tests/internal/conformance"
	"github.com/habeas-data/habeas/tests/internal/story"
)

var driver = databases.Driver{Name: "SQLite mattn", SQL: "sqlite3"}

// The tables are those of a later version, because the tests of the main module run on the tables of this version.
func TestTheStoreKeepsEveryPromiseOnNewerTables(t *testing.T) {
	conformance.Hold(t, conformance.BunstoreOnNewerTables(driver).Harness(t))
}

func TestRowsDeletedBesidesAreCountedOrRefused(t *testing.T) { conformance.CountBesides(t, driver) }

func TestTheStoryIsTheSameOnEveryRouter(t *testing.T) { story.Play(t, conformance.Bunstore(driver)) }
