package telemetry_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The application chooses the OpenTelemetry SDK, so this package must not depend on one.
func TestTheObserverLinksOnlyTheAPI(t *testing.T) {
	const notStandard = "{{if not .Standard}}{{.ImportPath}}{{end}}"
	listed, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", notStandard, ".").Output()
	must(t, err)
	found := 0
	for _, path := range strings.Fields(string(listed)) {
		if strings.HasPrefix(path, "go.opentelemetry.io/otel/") {
			found++
		}
		if strings.HasPrefix(path, "go.opentelemetry.io/otel/sdk") || strings.Contains(path, "exporter") ||
			strings.Contains(path, "yaml") {
			t.Errorf("it links %s", path)
		}
	}
	if found < 3 {
		t.Errorf("it links %d packages of the API: the test checks nothing", found)
	}
}
