package arch

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// code matches the text between backquotes.
var code = regexp.MustCompile("`([^`]+)`")

func quoted(text string) (inside []string) {
	for _, match := range code.FindAllStringSubmatch(text, -1) {
		inside = append(inside, match[1])
	}
	return inside
}

// tables returns the tables of a Markdown text. Each table is a list of rows without the header, and each row is a list
// of cells.
func tables(markdown string) (found [][][]string) {
	var rows [][]string
	for line := range strings.Lines(markdown + "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 2 {
				found = append(found, rows[2:])
			}
			rows = nil
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return found
}

// modules returns the modules that a program for Linux links if the program imports the packages. It omits the standard
// library and this module.
func modules(t *testing.T, packages []string) []string {
	t.Helper()
	arguments := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"}
	for _, directory := range packages {
		arguments = append(arguments, "./"+directory)
	}
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = root
	command.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	linked := strings.Fields(string(output))
	slices.Sort(linked)
	return slices.Compact(linked)
}

func TestProgramsLinkWhatTheDocumentationSays(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := tables(string(text))
	if len(found) != 4 {
		t.Fatalf("there are %d tables", len(found))
	}
	libraries := map[string][]string{"nothing": nil}
	for _, row := range found[1] {
		libraries[row[0]] = quoted(row[1])
	}
	for _, row := range found[0] {
		packages := quoted(row[0])
		t.Run(strings.Join(packages, " "), func(t *testing.T) {
			t.Parallel()
			var want []string
			for library := range strings.SplitSeq(row[1], ", ") {
				modules, known := libraries[library]
				if !known {
					t.Fatalf("the second table does not know %q", library)
				}
				want = append(want, modules...)
			}
			slices.Sort(want)
			want = slices.Compact(want)
			if got := modules(t, packages); !slices.Equal(got, want) {
				t.Errorf("links %q, and the table says %q", got, want)
			}
		})
	}
}
