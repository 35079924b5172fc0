package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/sources"
)

func TestTheTextIsUpToDate(t *testing.T) {
	sources.Read(t, "../../..")
	t.Chdir("../../..")
	packages, err := load()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile(".ci/api.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines, before := apiOf(packages), strings.Split(strings.TrimSpace(string(stored)), "\n")
	for _, line := range missing(before, lines) {
		t.Errorf("gone, and in .ci/api.txt: %s", line)
	}
	for _, line := range missing(lines, before) {
		t.Errorf("not in .ci/api.txt: %s", line)
	}
	if t.Failed() {
		t.Log("if this is what you want, run: go generate ./tests/cmd/apitext")
	}
}

func TestEachKindOfDeclarationHasItsLines(t *testing.T) {
	const source = `package p
		const Limit int = 3
		var Err, hidden error
		func Do(name string, more ...int) (n int, err error) { return 0, nil }
		type Store interface { Read(key string) error; Close() }
		type Key struct { ID int; secret int }
		func (k *Key) Text() string { return "" }
		func (k Key) hide() {}
		type Name string
		type Alias = Key
		type unexported struct{}`
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := new(types.Config).Check(module+"/p", positions, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"p: const Limit int = 3",
		"p: func Do(string, ...int) (int, error)",
		"p: method (*p.Key) Text() string",
		"p: type Alias = p.Key",
		"p: type Key struct",
		"p: type Key struct, ID int",
		"p: type Name string",
		"p: type Store interface { Close(); Read(string) error }",
		"p: var Err error",
	}
	if got := apiOf([]*types.Package{p}); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsGoneIsFound(t *testing.T) {
	before, after := []string{"a", "b", "c"}, []string{"a", "c", "d"}
	if got := missing(before, after); !slices.Equal(got, []string{"b"}) {
		t.Errorf("got %q", got)
	}
}

func TestBreakingChangesAreAnnouncedInTheFirstSection(t *testing.T) {
	for changelog, want := range map[string]bool{
		"# C\n\n## Unreleased\n\n### Breaking\n\n- x\n\n## v0.1.0\n":       true,
		"# C\n\n## Unreleased\n\n### Added\n\n## v0.1.0\n\n### Breaking\n": false,
		"# C\n": false,
	} {
		if got := announced(changelog); got != want {
			t.Errorf("%q: %v", changelog, got)
		}
	}
}

func TestOnlyPackagesForApplicationsAreOffered(t *testing.T) {
	for path, want := range map[string]bool{
		module + "/domain": true, module + "/ports/porttest": true, module + "/ports/mocks": false,
		module + "/adapters/persistence/bunstore/internal/conn": false, module + "/internal/words": false,
		module + "/examples/external/newsletter": false, "context": false,
	} {
		if isOffered(path, "p") != want {
			t.Error(path)
		}
	}
	if isOffered(module+"/tool/habeas", "main") {
		t.Error("a program is offered")
	}
}
