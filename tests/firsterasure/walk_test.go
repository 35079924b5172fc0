// Package firsterasure runs docs/first-erasure.md.
package firsterasure

import (
	"bytes"
	"database/sql"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/habeas-data/habeas/internal/tests/sources"
)

var update = flag.Bool("update", false, "write the outputs of the commands into the page")

const page = "../../docs/first-erasure.md"

var (
	block = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")
	plan  = regexp.MustCompile(`(Plan:|--plan) [0-9a-f]{32}`)
	at    = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`)
)

// walk is a directory in which the page is carried out.
type walk struct {
	t           *testing.T
	directory   string
	environment []string
	db          *sql.DB
	plan        string // the hash that the last rehearsal has printed
}

func newWalk(t *testing.T) *walk {
	t.Helper()
	sources.Read(t, "../..")
	directory := t.TempDir()
	programs := filepath.Join(directory, "bin")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(programs, "habeas"), "../../tool/habeas")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(directory, "bikes.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	path := programs + string(filepath.ListSeparator) + os.Getenv("PATH")
	return &walk{t, directory, []string{"PATH=" + path, "HOME=" + directory}, db, ""}
}

// carryOut does what a block of the page says, and returns the block with the outputs of its commands.
func (w *walk) carryOut(language, content string) string {
	switch language {
	case "sql":
		if question, ok := strings.CutPrefix(content, "SELECT"); ok {
			var id int
			if err := w.db.QueryRowContext(w.t.Context(), "SELECT"+question).Scan(&id); err != nil || id != 1 {
				w.t.Errorf("%s: %d, %v", content, id, err)
			}
		} else if _, err := w.db.ExecContext(w.t.Context(), content); err != nil {
			w.t.Fatalf("%s: %v", content, err)
		}
	case "json":
		w.write("habeas.json", content)
	case "console":
		return w.run(content)
	}
	return content
}

func (w *walk) write(name, content string) {
	if err := os.WriteFile(filepath.Join(w.directory, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// run runs the commands of a block. A command that begins with "export" changes the environment of later commands.
func (w *walk) run(content string) string {
	var shown strings.Builder
	for line := range strings.Lines(content) {
		command, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
		if !ok {
			continue // an output
		}
		command = plan.ReplaceAllString(command, "--plan "+w.plan)
		shown.WriteString("$ " + command + "\n")
		if variable, ok := strings.CutPrefix(command, "export "); ok {
			w.environment = append(w.environment, variable)
			continue
		}
		shell := exec.CommandContext(w.t.Context(), "sh", "-c", command)
		shell.Dir, shell.Env = w.directory, w.environment
		var errors bytes.Buffer
		shell.Stderr = &errors
		output, err := shell.Output()
		if err != nil && shell.ProcessState.ExitCode() != 1 { // 1 means findings
			w.t.Fatalf("%s: %v\n%s", command, err, errors.String())
		}
		if found := plan.FindString(string(output)); found != "" {
			w.plan = strings.TrimPrefix(found, "Plan: ")
		}
		shown.Write(at.ReplaceAll(output, []byte("2026-11-26 12:00:00Z")))
	}
	return shown.String()
}

func TestThePageShowsWhatHappens(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	walk := newWalk(t)
	happened := block.ReplaceAllStringFunc(string(text), func(whole string) string {
		parts := block.FindStringSubmatch(whole)
		got := walk.carryOut(parts[1], parts[2])
		if got != parts[2] && !*update {
			t.Errorf("the page shows:\n%s\nand this happens:\n%s\n(go test ./tests/firsterasure -update)", parts[2], got)
		}
		return "```" + parts[1] + "\n" + got + "```"
	})
	var bobs int
	err = walk.db.QueryRowContext(t.Context(), `SELECT count(*) FROM customers JOIN rentals ON customer_id = customers.id
		WHERE email = 'bob@example.org'`).Scan(&bobs)
	if err != nil || bobs != 1 {
		t.Errorf("the data of the other customer: %d rows, %v", bobs, err)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(page, []byte(happened), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
