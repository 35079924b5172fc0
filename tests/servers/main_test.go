package servers

import (
	"fmt"
	"os"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

func TestMain(m *testing.M) {
	if database := os.Getenv(databaseEnv); database != "" {
		if err := playProcess(database); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	postgres.Main(m)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
