package servers

import (
	"strconv"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/internal/tests/postgres/prebuilt"
)

func TestAServerHasTheVersionThatWasAskedFor(t *testing.T) {
	versions := prebuilt.Versions()
	if oldest, newest := versions[0], versions[len(versions)-1]; oldest != 14 || newest != 18 || len(versions) != 5 {
		t.Errorf("there are %v", versions)
	}
	for _, version := range []int{versions[0], versions[len(versions)-1]} {
		server := postgres.Private(t, postgres.Version(version))
		if got := scalar(t, server.URL(), "SHOW server_version"); !strings.HasPrefix(got, strconv.Itoa(version)+".") {
			t.Errorf("it is PostgreSQL %s, want %d", got, version)
		}
	}
}
