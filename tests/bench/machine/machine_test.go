package machine

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

func TestAServerThatIsNotDurableIsRefused(t *testing.T) {
	if _, err := Describe(t.Context(), postgres.Private(t).URL()); err == nil {
		t.Error("it was accepted")
	}
}

func TestADurableServerIsDescribed(t *testing.T) {
	server := postgres.Private(t, postgres.Durable())
	m, err := Describe(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.Server.Settings, ", "); got != "max_connections = 200" {
		t.Errorf("settings that are not the defaults: %s", got)
	}
	if !strings.HasPrefix(m.Server.Version, "PostgreSQL 1") || m.Cores < 1 || m.Sync <= 0 || m.Sync > time.Minute {
		t.Errorf("machine = %+v", m)
	}
	if runtime.GOOS == "linux" && m.Server.Process == 0 {
		t.Error("the server's process is not known")
	}
	if lines := m.Lines(); len(lines) != 3 {
		t.Errorf("lines = %q", lines)
	}
}

func TestTheProcessorHasAName(t *testing.T) {
	if got := processor("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: a b\n"); got != "Some CPU @ 2 GHz" {
		t.Errorf("processor = %q", got)
	}
	if got := processor(""); got != runtime.GOARCH {
		t.Errorf("an unknown processor = %q", got)
	}
}
