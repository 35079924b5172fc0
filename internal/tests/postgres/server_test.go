//go:build unix

package postgres

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// needBinaries skips the test if HABEAS_TEST_DATABASE_URL is set and this machine has no PostgreSQL programs.
func needBinaries(t *testing.T) {
	t.Helper()
	_, err := findBinaries(debianBinaries)
	if errors.Is(err, ErrNoBinaries) && os.Getenv(DatabaseURLEnv) != "" {
		t.Skip("a server is supplied and none can be started:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func query(t *testing.T, databaseURL, statement string) string {
	t.Helper()
	db, err := sql.Open("pgx", databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var value string
	if err := db.QueryRowContext(t.Context(), statement).Scan(&value); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}

func TestServerHasTheSettingsThatTestsWant(t *testing.T) {
	server := Private(t)
	for setting, want := range map[string]string{
		"server_encoding":         "UTF8",
		"lc_messages":             "C",
		"fsync":                   "off",
		"synchronous_commit":      "off",
		"full_page_writes":        "off",
		"max_connections":         "200",
		"jit":                     "off",
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": "",
	} {
		if got := query(t, server.URL(), "SHOW "+setting); got != want {
			t.Errorf("%s = %q, want %q", setting, got, want)
		}
	}
}

func TestDurableServerKeepsStockDurability(t *testing.T) {
	server := Private(t, Durable())
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		if got := query(t, server.URL(), "SHOW "+setting); got != "on" {
			t.Errorf("%s = %q, want on", setting, got)
		}
	}
}

func TestStopLeavesNothingAndMayBeRepeated(t *testing.T) {
	server := Private(t)
	// An open connection must not delay the shutdown.
	db, err := sql.Open("pgx", server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	awaitGone(t, server.URL(), server.directory)
}

func TestStartSurvivesALostPort(t *testing.T) {
	occupied, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer occupied.Close()
	calls := 0
	server := Private(t, func(s *settings) {
		s.freePort = func() (int, error) {
			if calls++; calls == 1 {
				return occupied.Addr().(*net.TCPAddr).Port, nil
			}
			return freePort()
		}
	})
	if calls != 2 {
		t.Errorf("%d ports were tried, want 2", calls)
	}
	if got := query(t, server.URL(), "SELECT 'up'"); got != "up" {
		t.Error("the server does not respond")
	}
}

func TestStartGivesUpWhenEveryPortIsLost(t *testing.T) {
	needBinaries(t)
	occupied, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer occupied.Close()
	_, err = Start(t.Context(), func(s *settings) {
		s.freePort = func() (int, error) { return occupied.Addr().(*net.TCPAddr).Port, nil }
	})
	if !errors.Is(err, errPortTaken) {
		t.Errorf("error = %v, want %v", err, errPortTaken)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	needBinaries(t)
	temporary := t.TempDir()
	if err := os.Chmod(temporary, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want %v", err, context.DeadlineExceeded)
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, "habeas-postgres-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAFailedStartReportsTheLogOfTheServer(t *testing.T) {
	_, err := settings{freePort: func() (int, error) { return 0, nil }}.start(t.Context(),
		binaries{initdb: "/bin/true", postgres: "/bin/sh"})
	if err == nil || !strings.Contains(err.Error(), "did not start") {
		t.Errorf("error = %v, want the log of the server", err)
	}
}

func TestRootsClosedTemporaryDirectoryIsNotUsed(t *testing.T) {
	as, err := account()
	if err != nil {
		t.Fatal(err)
	}
	if as == nil {
		t.Skip("only root hands the directory to somebody else")
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", closed)
	if got := query(t, Private(t).URL(), "SELECT 'up'"); got != "up" {
		t.Error("the server does not respond")
	}
}

func TestNewestInstalledVersionIsFound(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	root := t.TempDir()
	for _, version := range []string{"9.6", "14", "18"} {
		directory := filepath.Join(root, version, "bin")
		if err := os.MkdirAll(directory, 0o750); err != nil {
			t.Fatal(err)
		}
		for _, program := range []string{"initdb", "postgres"} {
			if program == "postgres" && version == "18" {
				continue // a client-only installation
			}
			if err := os.WriteFile(filepath.Join(directory, program), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	found, err := findBinaries(filepath.Join(root, "*", "bin"))
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(root, "14", "bin", "postgres"); found.postgres != want {
		t.Errorf("postgres = %s, want %s", found.postgres, want)
	}
}

func TestMissingBinariesNameTheCommandThatInstallsThem(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Start(t.Context(), func(s *settings) { s.pattern = t.TempDir() + "/*" })
	if !errors.Is(err, ErrNoBinaries) {
		t.Fatalf("error = %v, want ErrNoBinaries", err)
	}
	if !strings.Contains(err.Error(), "sudo apt-get install postgresql") {
		t.Errorf("%q does not name the command", err)
	}
}

// awaitGone fails unless the server's port closes and its directory is removed within 30 seconds.
func awaitGone(t *testing.T, serverURL, directory string) {
	t.Helper()
	parsed, err := url.Parse(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	if port, err := strconv.Atoi(parsed.Port()); err != nil || port == 0 {
		t.Fatalf("no port in %s", serverURL)
	}
	var listening, present bool
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		connection, err := net.DialTimeout("tcp4", parsed.Host, time.Second)
		if listening = err == nil; listening {
			_ = connection.Close()
		}
		_, err = os.Stat(directory)
		present = !errors.Is(err, os.ErrNotExist)
		if !listening && !present {
			return
		}
	}
	t.Fatalf("after 30s: still listening: %t, directory still there: %t", listening, present)
}
