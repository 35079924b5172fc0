package servers

import (
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/tests/internal/conformance"
	"github.com/habeas-data/habeas/tests/internal/story"
)

// modes are the query modes of pgx that work behind a proxy with transaction pooling, where each transaction may use
// another connection to the server.
var modes = []string{"exec", "simple_protocol", "cache_describe"}

var pgx = databases.Driver{Name: "PostgreSQL pgx", SQL: "pgx"}

// pooled describes, for the conformance tests, a bunstore.Store that connects through a proxy with transaction pooling.
// The parameter mode is the query mode of pgx. Each store has a separate database.
func pooled(mode string) conformance.Kind {
	return conformance.BunstoreIn("bunstore behind PgBouncer", pgx, func(t testing.TB) func(testing.TB) string {
		t.Helper()
		proxy := startBouncer(t, postgres.NewDatabase(t), 10)
		return func(testing.TB) string {
			return proxy.through(t, postgres.NewDatabase(t), "default_query_exec_mode", mode)
		}
	})
}

func TestTheStoreKeepsEveryPromiseBehindAProxy(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			conformance.Hold(t, pooled(mode).Harness(t))
		})
	}
}

func TestTheStoryIsTheSameBehindAProxy(t *testing.T) { story.Play(t, pooled("exec")) }
