package arch

import (
	"bytes"
	"errors"
	"go/ast"
	"go/doc"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unexampled has the packages that need no example, with the reasons. All other packages that users see need an
// example.
var unexampled = map[string]string{
	"ports":          "has interfaces only: the packages that implement or call them have the examples",
	"app/quickstart": "is a program, and an example itself",
	"tool/habeas":    "is a program",
}

func TestWhatUsersLinkHasExamples(t *testing.T) {
	packages := documented(t)
	if len(packages) < 20 {
		t.Errorf("there are %d packages, %v: the rule holds next to nothing", len(packages), packages)
	}
	for _, directory := range packages {
		pages, reason := pagesOf(t, testFiles(t, directory)...), unexampled[directory]
		switch {
		case len(pages) > 0 && reason != "":
			t.Errorf("%s has examples, and is said to have none, as it %s", directory, reason)
		case len(pages) == 0 && reason == "":
			t.Errorf("%s has no example", directory)
		}
	}
	for directory, reason := range unexampled {
		if !slices.Contains(packages, directory) || reason == "" {
			t.Errorf("%s is no package of users, or has no reason", directory)
		}
	}
}

func TestExamplesAreWholeProgramsOnTheirPages(t *testing.T) {
	var all []page
	for _, directory := range documented(t) {
		for _, p := range pagesOf(t, testFiles(t, directory)...) {
			p.name = directory + ": " + p.name
			all = append(all, p)
		}
	}
	for _, fault := range faults(t, all) {
		t.Error(fault)
	}
}

// documented returns the directories of the packages that applications use directly.
func documented(t *testing.T) (packages []string) {
	t.Helper()
	for _, file := range sources(t) {
		if file.in(users...) && !strings.Contains(file.path, "internal/") && !strings.HasSuffix(file.path, "_test.go") {
			packages = append(packages, path.Dir(file.path))
		}
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

// testFiles reads the tests of a package.
func testFiles(t *testing.T, directory string) (contents []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, directory, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, string(content))
	}
	return contents
}

// page is an example as the documentation of its package shows it. If the declarations in the file of the example are a
// complete program, page.program has its source. Otherwise, page.program is "", because the documentation then shows
// only a fragment.
type page struct {
	name    string
	program string
}

func pagesOf(t *testing.T, tests ...string) (pages []page) {
	t.Helper()
	positions := token.NewFileSet()
	var files []*ast.File
	for _, content := range tests {
		file, err := parser.ParseFile(positions, "x_test.go", content, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for _, example := range doc.Examples(files...) {
		var program bytes.Buffer
		if example.Play != nil {
			if err := format.Node(&program, positions, example.Play); err != nil {
				t.Fatal(err)
			}
		}
		pages = append(pages, page{"Example" + example.Name, program.String()})
	}
	return pages
}

// faults compiles the program of each page. If a page has no program, or its program does not compile, faults returns a
// text with the name of the page and the reason.
func faults(t *testing.T, pages []page) (found []string) {
	t.Helper()
	positions := token.NewFileSet()
	programs, imports := map[string]*ast.File{}, []string{"unsafe"} // go list needs at least one package
	for _, p := range pages {
		if p.program == "" {
			found = append(found, p.name+" uses what its file does not declare")
			continue
		}
		program, err := parser.ParseFile(positions, "main.go", p.program, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		programs[p.name] = program
		for _, spec := range program.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			imports = append(imports, importPath)
		}
	}
	compiled := importer.ForCompiler(positions, "gc", exports(t, imports))
	for name, program := range programs {
		_, err := (&types.Config{Importer: compiled}).Check("main", positions, []*ast.File{program}, nil)
		var fault types.Error
		if errors.As(err, &fault) {
			found = append(found, name+": "+fault.Msg)
		}
	}
	slices.Sort(found)
	return found
}

// exports returns a function that opens the compiled declarations (the export data) of a package. The type checker
// calls this function for each import.
func exports(t *testing.T, imports []string) func(importPath string) (io.ReadCloser, error) {
	t.Helper()
	arguments := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "--"}
	command := exec.CommandContext(t.Context(), "go", append(arguments, imports...)...)
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	files := map[string]string{}
	for line := range strings.Lines(string(output)) {
		importPath, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[importPath] = file
	}
	return func(importPath string) (io.ReadCloser, error) { return os.Open(files[importPath]) }
}

func TestExampleRulesCatchWhatTheyForbid(t *testing.T) {
	const head = "package domain_test\nimport \"fmt\"\n"
	for name, test := range map[string]struct {
		tests          []string
		pages, faulted int
	}{
		"no tests":                      {nil, 0, 0},
		"tests only":                    {[]string{head + "func TestX(*T) { fmt.Print() }"}, 0, 0},
		"a function that is no example": {[]string{head + "func Exampled() { fmt.Print() }"}, 0, 0},
		"an example":                    {[]string{head + "func ExampleX() { fmt.Print() }"}, 1, 0},
		"an example inside the package": {[]string{"package domain\nfunc ExampleX() { NewSubject() }"}, 1, 1},
		"a helper in the same file":     {[]string{head + "func ExampleX() { help() }\nfunc help() { fmt.Print() }"}, 1, 0},
		"a helper in another file":      {[]string{head + "func ExampleX() { help() }", head + "func help() {}"}, 1, 1},
		"a helper of a helper in another": {
			[]string{head + "func ExampleX() { help() }\nfunc help() { more() }", head + "func more() {}"}, 1, 1,
		},
		"one faulted example of two": {[]string{head + "func ExampleX() { help() }\nfunc ExampleY() { fmt.Print() }"}, 2, 1},
		"an import that the page leaves out": {[]string{
			head + "type names map[string]int\nfunc ExampleX() { run() }\nfunc run() { _ = names{fmt.Sprint(): 7} }\n" +
				"func ExampleY() {}",
		}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			pages := pagesOf(t, test.tests...)
			if len(pages) != test.pages {
				t.Errorf("pages = %q, want %d", pages, test.pages)
			}
			if found := faults(t, pages); len(found) != test.faulted {
				t.Errorf("faults = %q, want %d", found, test.faulted)
			}
		})
	}
}
