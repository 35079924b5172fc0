//go:build unix

package postgres

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unmarked sets another marker file for a test of this package, and returns its name. The actual marker file then lists
// only tests of the library.
func unmarked(t *testing.T) (marker string) {
	t.Helper()
	marker = filepath.Join(t.TempDir(), "marker")
	t.Setenv(MarkerEnv, marker)
	return marker
}

func TestDatabasesAreSeparate(t *testing.T) {
	unmarked(t)
	first, second := NewDatabase(t), NewDatabase(t)
	if first == second {
		t.Fatal("two databases have the same URL")
	}
	for _, databaseURL := range []string{first, second} {
		if got := query(t, databaseURL, "SELECT count(*) FROM pg_stat_user_tables"); got != "0" {
			t.Errorf("%s tables, want none", got)
		}
		if got := query(t, databaseURL, "SHOW server_encoding"); got != "UTF8" {
			t.Errorf("encoding %s, want UTF8", got)
		}
		if err := execute(t.Context(), databaseURL, "CREATE TABLE mine (id int)"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASuppliedServerIsUsed(t *testing.T) {
	unmarked(t)
	server := Private(t)
	t.Setenv(DatabaseURLEnv, server.URL())
	databaseURL := NewDatabase(t)
	const port = "SHOW port"
	if got, want := query(t, databaseURL, port), query(t, server.URL(), port); got != want {
		t.Errorf("port %s, want the supplied server's %s", got, want)
	}
}

func TestEveryDatabaseLeavesALineInTheMarker(t *testing.T) {
	marker := unmarked(t)
	NewDatabase(t)
	t.Run("inner", func(t *testing.T) { NewDatabase(t) })
	content, err := os.ReadFile(marker)
	if err != nil {
		t.Fatal(err)
	}
	want := t.Name() + "\n" + t.Name() + "/inner\n"
	if string(content) != want {
		t.Errorf("marker = %q, want %q", content, want)
	}
}

func TestParallelTestsShareOneServer(t *testing.T) {
	unmarked(t)
	ports := make(chan string, 8)
	t.Run("group", func(t *testing.T) {
		for range cap(ports) {
			t.Run("one", func(t *testing.T) {
				t.Parallel()
				ports <- query(t, NewDatabase(t), "SHOW port")
			})
		}
	})
	close(ports) // some tests may have failed and sent no port
	first := <-ports
	for port := range ports {
		if port != first {
			t.Errorf("port %s, want %s", port, first)
		}
	}
}

func TestDatabaseURLKeepsUserPasswordAndParameters(t *testing.T) {
	got, err := withDatabase("postgres://me:p%40ss@db.example:6432/admin?sslmode=require", "fresh")
	if err != nil {
		t.Fatal(err)
	}
	if want := "postgres://me:p%40ss@db.example:6432/fresh?sslmode=require"; got != want {
		t.Errorf("URL = %s, want %s", got, want)
	}
	for _, wrong := range []string{
		"host=localhost password=secret", "mysql://u:secret@h/d", "postgres://u:secret@h:x/d", "secret",
	} {
		_, err := withDatabase(wrong, "fresh")
		if err == nil {
			t.Errorf("%q was accepted", wrong)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats the URL: %v", err)
		}
	}
}
