//go:build unix

package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// childEnv is the environment variable that makes this test binary run as a child process. Its value selects the mode.
const childEnv = "HABEAS_POSTGRES_TEST_CHILD"

const (
	// childServes selects a child process that starts a server, prints its URL, and waits to be killed.
	childServes = "serves"
	// childDies selects a child process that starts a server, prints its URL, and exits immediately without a call of
	// Stop.
	childDies = "dies"
)

// child is the JSON that a child process prints about its server.
type child struct {
	URL, Directory string
}

func TestMain(m *testing.M) {
	if part := os.Getenv(childEnv); part != "" {
		playChild(part)
	}
	Main(m)
}

func playChild(part string) {
	server, err := Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(child{server.URL(), server.directory}); err != nil {
		os.Exit(1)
	}
	if part == childDies {
		os.Exit(3)
	}
	select {}
}
