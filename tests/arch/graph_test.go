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

// root is the module's directory, seen from this package's.
const root = "../.."

// pkg is what `go list` says about a package, tests left out.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string // everything that it links, directly or not
	Error      *struct{ Err string }
}

// graph holds the module's packages and everything that they link.
type graph map[string]pkg

// load asks the go command, so that what is checked is what is linked.
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

// local turns an import path of the module into a directory ("domain/consent", "." for the root); ok is false for
// others.
func local(importPath string) (directory string, ok bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// thirdParty reports whether a package comes from neither the standard library nor this module.
func (g graph) thirdParty(importPath string) bool {
	_, ours := local(importPath)
	return !ours && !g[importPath].Standard
}

// packages returns the module's packages, by directory, that match any of the patterns: "ports" is that package,
// "domain/..." it and everything below.
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

// imports returns what a package of the module imports directly.
func (g graph) imports(directory string) []string { return g[path.Join(module, directory)].Imports }

// deps returns everything that a package of the module links.
func (g graph) deps(directory string) []string { return g[path.Join(module, directory)].Deps }

// chain explains a dependency: the shortest way of imports from a package of the module to what it links.
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
