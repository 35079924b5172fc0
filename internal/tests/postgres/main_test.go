//go:build unix

package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// childEnv makes this test binary play a test process of its own; its value names the part.
const childEnv = "HABEAS_POSTGRES_TEST_CHILD"

const (
	// childServes starts a server, says where, and waits to be killed.
	childServes = "serves"
	// childDies does so and then ends at once, without a word to the server.
	childDies = "dies"
)

// child is what a child process says about its server.
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
