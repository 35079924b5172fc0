package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

// A measured server runs in another process of the same program. In a test, this program is the test binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Each measurement checks its own results, and returns an error if they are wrong.
func TestEveryPartIsMeasuredInMiniature(t *testing.T) {
	o, err := parse(strings.Fields("-quick -users 40 -sqlite-users 20 -pairs 1 -sqlite-pairs 1 -connections 2 "+
		"-sqlite-connections 2 -duration 200ms -warmup 20ms -pool 2 -entries 2000 -drains 1"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	server := postgres.Private(t)
	lines := map[string]int{partEndpoints: 4 * 2, partSQLite: 4 * 4, partDrain: 2, partBadDay: 2}
	for _, part := range allParts {
		t.Run(part, func(t *testing.T) {
			all, err := measurements[part](t.Context(), place{
				options: o, serverURL: server.URL(), progress: func(text string) { t.Log(text) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := verdict(all); len(got) != lines[part] {
				t.Errorf("verdict: %q", got)
			}
			directory := t.TempDir()
			if err := writePage(t.Context(), directory, nil, all); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"README.md", "results.txt"} {
				content, err := os.ReadFile(filepath.Join(directory, name))
				if err != nil || !strings.Contains(string(content), all.Keys("side")[0]) {
					t.Errorf("%s: %v\n%s", name, err, content)
				}
			}
		})
	}
}
