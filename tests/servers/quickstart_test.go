package servers

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

func TestTheQuickstartsWalkthroughMeetsNoSurpriseBehindAProxy(t *testing.T) {
	program := filepath.Join(t.TempDir(), "quickstart")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./app/quickstart")
	build.Dir = filepath.Join("..", "..")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	database := postgres.NewDatabase(t)
	proxy := startBouncer(t, database, 5)
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			url := proxy.through(t, database, "default_query_exec_mode", mode)
			output, err := exec.CommandContext(t.Context(), program, "-walkthrough", "-database-url", url).CombinedOutput()
			if err != nil || !strings.Contains(string(output), "The walkthrough is complete") {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
}
