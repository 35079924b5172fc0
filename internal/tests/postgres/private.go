package postgres

import (
	"errors"
	"os"
	"testing"
)

// Private starts a server for one test and stops it when the test ends. If PostgreSQL is not installed on this machine,
// the test fails, or is skipped if HABEAS_TEST_DATABASE_URL is set.
func Private(tb testing.TB, options ...Option) *Server {
	tb.Helper()
	server, err := Start(tb.Context(), options...)
	if errors.Is(err, ErrNoBinaries) && os.Getenv(DatabaseURLEnv) != "" {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := server.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return server
}
