// Package pgdriver runs the conformance suites, which every store must pass, on PostgreSQL with bun's driver pgdriver.
package pgdriver

import (
	"testing"

	_ "github.com/uptrace/bun/driver/pgdriver" // driver "pg"

	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/tests/internal/conformance"
	"github.com/habeas-data/habeas/tests/internal/story"
)

func TestMain(m *testing.M) { postgres.Main(m) }

var driver = databases.Driver{Name: "PostgreSQL pgdriver", SQL: "pg"}

// The tables are those of a later version, because the tests of the main module run on the tables of this version.
func TestTheStoreKeepsEveryPromiseOnNewerTables(t *testing.T) {
	conformance.Hold(t, conformance.BunstoreOnNewerTables(driver).Harness(t))
}

func TestRowsDeletedBesidesAreCountedOrRefused(t *testing.T) { conformance.CountBesides(t, driver) }

func TestTheStoryIsTheSameOnEveryRouter(t *testing.T) { story.Play(t, conformance.Bunstore(driver)) }
