package arch

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// required returns the versions, without "v", that go.mod of the module requires. The second map has only the direct
// requirements.
func required(t *testing.T) (all, direct map[string]string) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", filepath.Join(root, "go.mod")).Output()
	if err != nil {
		t.Fatal(err)
	}
	var module struct {
		Require []struct {
			Path, Version string
			Indirect      bool
		}
	}
	if err := json.Unmarshal(output, &module); err != nil {
		t.Fatal(err)
	}
	all, direct = map[string]string{}, map[string]string{}
	for _, requirement := range module.Require {
		all[requirement.Path] = strings.TrimPrefix(requirement.Version, "v")
		if !requirement.Indirect {
			direct[requirement.Path] = all[requirement.Path]
		}
	}
	return all, direct
}

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// numbers splits a version, for example "2.52.15". Lists of numbers have the order of the versions.
func numbers(t *testing.T, version string) (parts []int) {
	t.Helper()
	for part := range strings.SplitSeq(version, ".") {
		number, err := strconv.Atoi(part)
		if err != nil {
			t.Fatalf("version %q: %v", version, err)
		}
		parts = append(parts, number)
	}
	return parts
}

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

func TestTheDocumentationListsTheDirectRequirements(t *testing.T) {
	_, direct := required(t)
	listed := map[string]string{}
	for _, row := range tables(document(t, "docs/dependencies.md"))[1] {
		listed[quoted(row[0])[0]] = row[1]
	}
	for module, version := range direct {
		if listed[module] != version {
			t.Errorf("go.mod requires %s %s, and the table says %q", module, version, listed[module])
		}
		delete(listed, module)
	}
	if len(listed) > 0 {
		t.Errorf("go.mod does not require %v", listed)
	}
}

func TestTheRequiredVersionsHaveNoListedAdvisory(t *testing.T) {
	all, _ := required(t)
	for _, row := range tables(document(t, "docs/dependencies.md"))[2] {
		module := quoted(row[0])[0]
		version, found := all[module]
		if !found {
			t.Errorf("go.mod does not require %s", module)
		} else if slices.Compare(numbers(t, version), numbers(t, row[2])) < 0 {
			t.Errorf("go.mod requires %s %s, and %s is fixed in %s", module, version, row[1], row[2])
		}
	}
}

func TestTheReadmeNamesTheRequiredVersions(t *testing.T) {
	_, direct := required(t)
	readme := document(t, "README.md")
	for name, module := range map[string]string{
		"All modules of bun must have one version, at least ": "github.com/uptrace/bun",
		"github.com/uptrace/bun@v":                            "github.com/uptrace/bun",
		"github.com/uptrace/bun/dialect/pgdialect@v":          "github.com/uptrace/bun/dialect/pgdialect",
		"\nFiber ": "github.com/gofiber/fiber/v2",
	} {
		if !strings.Contains(readme, name+direct[module]) {
			t.Errorf("the README does not say %q", name+direct[module])
		}
	}
}
