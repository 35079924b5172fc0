package servers

import (
	"fmt"
	"os"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/fixture"
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

var must = fixture.Must
