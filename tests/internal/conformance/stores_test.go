package conformance_test

import (
	"testing"

	"github.com/habeas-data/habeas/ports/porttest"
	"github.com/habeas-data/habeas/tests/internal/conformance"
)

func TestEveryStoreKeepsEveryPromise(t *testing.T) {
	for _, kind := range conformance.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			conformance.Hold(t, kind.Harness(t))
		})
	}
}

func TestEveryStoreKeepsTheDataMapsOfADatabaseApart(t *testing.T) {
	for _, kind := range conformance.MapsKinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			porttest.TestMaps(t, kind.Harness)
		})
	}
}
