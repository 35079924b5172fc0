package servers

import (
	"testing"

	"github.com/habeas-data/habeas/tests/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
