package memory_test

import (
	"testing"

	"github.com/habeas-data/habeas/internal/tests/inmemory"
	"github.com/habeas-data/habeas/ports/porttest"
)

// "make test-mutants" runs only this test.
func TestConformance(t *testing.T) {
	harness := inmemory.Stores()
	porttest.TestStore(t, harness)
	t.Run("CatalogReader", func(t *testing.T) { porttest.TestCatalogReader(t, harness) })
	t.Run("Finder", func(t *testing.T) { porttest.TestFinder(t, harness) })
	t.Run("Maps", func(t *testing.T) { porttest.TestMaps(t, porttest.MapsHarness{Open: inmemory.OpenMaps}) })
}
