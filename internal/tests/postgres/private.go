package postgres

import (
	"errors"
	"os"
	"testing"
)

// Private starts a server for one test, which ends with it. Where there is none to start the test fails, unless
// HABEAS_TEST_DATABASE_URL names one for the tests that can share it: then this one is skipped, with the reason.
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
