// Command apitext writes the exported API of the packages that applications import, one declaration a line, so that a
// change of the API is a change of a file that is reviewed. With -since, it lists the lines of another version that are
// gone: these changes break applications. It fails then, unless CHANGELOG.md announces them under "### Breaking".
//
// It runs in the root of the module.
package main

//go:generate go -C ../../.. run ./tests/cmd/apitext -write .ci/api.txt

import (
	"errors"
	"flag"
	"fmt"
	"go/types"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
)

func main() {
	log.SetFlags(0)
	file := flag.String("write", "", "write the API into this `file`")
	since := flag.String("since", "", "list what is in this `file` and not in the API")
	flag.Parse()
	if err := run(os.Stdout, *file, *since); err != nil {
		log.Fatal("apitext: ", err)
	}
}

func run(out io.Writer, file, since string) error {
	packages, err := load()
	if err != nil {
		return err
	}
	lines := apiOf(packages)
	if file != "" {
		return os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
	}
	before, err := os.ReadFile(since)
	if err != nil {
		return err
	}
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	gone := missing(strings.Split(strings.TrimSpace(string(before)), "\n"), lines)
	for _, line := range gone {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	if len(gone) > 0 && !announced(string(changes)) {
		return errors.New("these declarations are gone or were changed: announce them in CHANGELOG.md under ### Breaking")
	}
	return nil
}

// missing returns the lines of before that are not in after.
func missing(before, after []string) (gone []string) {
	have := map[string]bool{}
	for _, line := range after {
		have[line] = true
	}
	for _, line := range before {
		if !have[line] {
			gone = append(gone, line)
		}
	}
	return gone
}

// announced reports whether the first section of a changelog has the heading "### Breaking".
func announced(changelog string) bool {
	_, changelog, _ = strings.Cut(changelog, "\n## ")
	first, _, _ := strings.Cut(changelog, "\n## ")
	return strings.Contains(first, "\n### Breaking\n")
}

const module = "github.com/habeas-data/habeas"

// isOffered reports whether applications may import a package. The mocks are generated from the ports.
func isOffered(path, name string) bool {
	inside, ok := strings.CutPrefix(path, module+"/")
	return ok && name != "main" && !strings.Contains("/"+path+"/", "/internal/") && inside != "ports/mocks" &&
		!strings.HasPrefix(inside, "tests/") && !strings.HasPrefix(inside, "examples/")
}

// load returns the declarations of the packages that applications may import, in the order of their paths.
func load() ([]*types.Package, error) {
	command := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Name}} {{.Export}}", "./...")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return read(strings.Split(strings.TrimSpace(string(output)), "\n"))
}
