package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/habeas-data/habeas"

// root is the directory of the module, relative to this package.
const root = "../.."

// pkg is the output of "go list" for one package, without the tests of the package.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string // packages that it links directly or indirectly
	Error      *struct{ Err string }
}

// graph maps import paths to packages. It contains the packages of the module and all packages that they link.
type graph map[string]pkg

// load builds the graph with "go list", so that the tests check the packages that a build really links.
func load(t *testing.T) graph {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-e",
		"-json=ImportPath,Standard,Imports,Deps,Error", "./...")
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	loaded := graph{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return loaded
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Error != nil {
			t.Fatalf("%s can't be loaded: %s", p.ImportPath, p.Error.Err)
		}
		loaded[p.ImportPath] = p
	}
}

// local returns the directory of a package of this module, such as "domain/consent", or "." for the root. If the import
// path belongs to another module, ok is false.
func local(importPath string) (directory string, ok bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// thirdParty reports whether a package belongs neither to this module nor to the standard library.
func (g graph) thirdParty(importPath string) bool {
	_, ours := local(importPath)
	return !ours && !g[importPath].Standard
}

// packages returns the directories of the module's packages that match one of the patterns. The pattern "domain"
// matches only package domain. The pattern "domain/..." also matches all packages below it.
func (g graph) packages(patterns ...string) []string {
	var matching []string
	for importPath := range g {
		if directory, ours := local(importPath); ours && matches(directory, patterns) {
			matching = append(matching, directory)
		}
	}
	slices.Sort(matching)
	return matching
}

func matches(directory string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		parent, recursive := strings.CutSuffix(pattern, "/...")
		return directory == parent || recursive && strings.HasPrefix(directory, parent+"/")
	})
}

// imports returns the packages that the package in the directory imports directly.
func (g graph) imports(directory string) []string { return g[path.Join(module, directory)].Imports }

// deps returns all packages that the package in the directory links, directly or indirectly.
func (g graph) deps(directory string) []string { return g[path.Join(module, directory)].Deps }

// chain returns the shortest chain of imports from the package in the directory to the target, such as "a -> b -> c".
func (g graph) chain(directory, target string) string {
	start := path.Join(module, directory)
	cameFrom := map[string]string{start: ""}
	for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == target {
			break
		}
		for _, next := range g[queue[0]].Imports {
			if _, seen := cameFrom[next]; !seen {
				cameFrom[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	way := []string{target}
	for at := cameFrom[target]; at != ""; at = cameFrom[at] {
		way = append(way, at)
	}
	slices.Reverse(way)
	return strings.Join(way, " -> ")
}
