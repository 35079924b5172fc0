package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

type source struct {
	path   string // relative to the module's root, with slashes
	lines  int
	syntax *ast.File
}

// sources reads every Go file of the module, including tests. The cached results of this package therefore stay up to
// date: the go command repeats a cached test if a file that the test has read was changed.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && skipped(name, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		file, err := parse(filepath.ToSlash(relative), content)
		all = append(all, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func parse(name string, content []byte) (source, error) {
	syntax, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
	return source{path: name, lines: strings.Count(string(content), "\n"), syntax: syntax}, err
}

// skipped reports whether the go command ignores a directory. It ignores hidden directories, test data and nested
// modules.
func skipped(directory, name string) bool {
	_, err := os.Stat(filepath.Join(directory, "go.mod"))
	return err == nil || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func (s source) in(patterns ...string) bool { return matches(path.Dir(s.path), patterns) }

func TestFilesKeepTheRules(t *testing.T) {
	files := sources(t)
	for _, required := range []string{"domain", "ports"} {
		if !slices.ContainsFunc(files, func(file source) bool { return file.in(required) }) {
			t.Errorf("there is no Go file in %s: the rules apply to nothing", required)
		}
	}
	for _, file := range files {
		for _, violation := range file.violations() {
			t.Errorf("%s: %s", file.path, violation)
		}
	}
}

func (s source) violations() (found []string) {
	if s.in("adapters/http") {
		found = append(found, "a Go file in adapters/http would be a second package http: move it to a package below")
	}
	if s.lines > 400 && !s.in("ports/mocks/...") {
		found = append(found, strconv.Itoa(s.lines)+" lines; a file has at most 400 lines: split it")
	}
	name := strings.TrimSuffix(s.syntax.Name.Name, "_test")
	if slices.Contains([]string{"util", "utils", "common", "helper", "helpers"}, name) {
		found = append(found, "package "+name+" must have a name that describes its content")
	}
	if name := s.offered(); name != "" {
		found = append(found, name+": applications could import it; put the package below a folder internal")
	}
	// A test may call time.Now, because package synctest simulates the clock in tests.
	if s.in(pure...) && !s.in("internal/system", "internal/tests/...") && !strings.HasSuffix(s.path, "_test.go") {
		for _, call := range s.clockReads() {
			found = append(found, call+": the core must read the time from ports.Clock")
		}
	}
	if s.reveals() && !strings.HasSuffix(s.path, "_test.go") && s.path != "tool/cli/sample.go" &&
		!s.in("adapters/persistence/bunstore/internal/subject", "adapters/persistence/memory") {
		found = append(found, "Reveal shows a value of a subject: only a store and the writer to a terminal may call it")
	}
	return found
}

// reveals reports whether the file uses the method Reveal of domain.PrivateValue.
func (s source) reveals() (found bool) {
	ast.Inspect(s.syntax, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		found = found || ok && selector.Sel.Name == "Reveal"
		return true
	})
	return found
}

// offered returns the first exported name of a file in tests if an application could import the package of the file by
// mistake. For any other file, it returns "".
func (s source) offered() string {
	if !s.in("tests/...") || strings.Contains(s.path, "internal/") ||
		strings.HasSuffix(s.path, "_test.go") || s.syntax.Name.Name == "main" {
		return ""
	}
	for _, declaration := range s.syntax.Decls {
		switch declared := declaration.(type) {
		case *ast.FuncDecl:
			if declared.Name.IsExported() {
				return declared.Name.Name
			}
		case *ast.GenDecl:
			for _, spec := range declared.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						return spec.Name.Name
					}
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if name.IsExported() {
							return name.Name
						}
					}
				}
			}
		}
	}
	return ""
}

// clockReads returns the calls that read the clock of the machine. It recognizes them even if the file imports package
// time under another name.
func (s source) clockReads() (found []string) {
	name := ""
	for _, spec := range s.syntax.Imports {
		if spec.Path.Value == `"time"` {
			if name = "time"; spec.Name != nil {
				name = spec.Name.Name
			}
		}
	}
	if name == "." {
		return []string{`import . "time"`}
	}
	ast.Inspect(s.syntax, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		qualifier, ok := selector.X.(*ast.Ident)
		if ok && name != "" && qualifier.Name == name &&
			slices.Contains([]string{"Now", "Since", "Until"}, selector.Sel.Name) {
			found = append(found, "time."+selector.Sel.Name)
		}
		return true
	})
	return found
}

func TestFileRulesCatchWhatTheyForbid(t *testing.T) {
	for name, test := range map[string]struct {
		path, content string
		want          int
	}{
		"a file in adapters/http":       {"adapters/http/doc.go", "package http", 1},
		"a value that is shown":         {"adapters/http/httpapi/a.go", "package httpapi\nvar a, _ = v.Reveal()", 1},
		"a value on a terminal":         {"tool/cli/sample.go", "package cli\nvar a, _ = v.Reveal()", 0},
		"one package down":              {"adapters/http/httpapi/doc.go", "package httpapi", 0},
		"401 lines":                     {"app/app.go", "package app" + strings.Repeat("\n", 401), 1},
		"400 lines":                     {"app/app.go", "package app" + strings.Repeat("\n", 400), 0},
		"long mocks":                    {"ports/mocks/stores.go", "package mocks" + strings.Repeat("\n", 401), 0},
		"package helpers":               {"tests/helpers/x.go", "package helpers", 1},
		"package common, tests only":    {"app/common/x_test.go", "package common_test", 1},
		"a function offered by tests":   {"tests/shop/x.go", "package shop\nfunc Open() {}", 1},
		"a type offered by tests":       {"tests/shop/x.go", "package shop\ntype Shop struct{}", 1},
		"a value offered by tests":      {"tests/shop/x.go", "package shop\nvar _, Open = 1, 2", 1},
		"a name inside tests":           {"tests/shop/x.go", "package shop\nfunc open() {}", 0},
		"an internal package of tests":  {"tests/internal/story/x.go", "package shop\nfunc Open() {}", 0},
		"a program of tests":            {"tests/cmd/x/x.go", "package main\nfunc Open() {}", 0},
		"a test":                        {"tests/shop/x_test.go", "package shop\nfunc TestOpen() {}", 0},
		"the clock in a service":        {"domain/saga/x.go", "package saga\nimport \"time\"\nvar now = time.Now()", 1},
		"the clock in a test":           {"domain/saga/x_test.go", "package saga\nimport \"time\"\nvar now = time.Now()", 0},
		"the clock as a value":          {"domain/saga/x.go", "package saga\nimport \"time\"\nvar now = time.Now", 1},
		"the clock under another name":  {"ports/x.go", "package ports\nimport t \"time\"\nvar age = t.Since(t.Time{})", 1},
		"the clock without a qualifier": {"ports/x.go", "package ports\nimport . \"time\"\nvar now = Now()", 1},
		"the clock in a rule of the wing": {
			"tool/check/x.go", "package check\nimport \"time\"\nvar now = time.Now()", 1,
		},
		"the clock in a command":  {"tool/cli/x.go", "package cli\nimport \"time\"\nvar now = time.Now()", 0},
		"the clock in an adapter": {"adapters/worker/x.go", "package worker\nimport \"time\"\nvar now = time.Now()", 0},
		"a variable called time":  {"domain/x.go", "package domain\nvar time struct{ Now int }\nvar now = time.Now", 0},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := parse(test.path, []byte(test.content))
			if err != nil {
				t.Fatal(err)
			}
			if found := file.violations(); len(found) != test.want {
				t.Errorf("violations = %q, want %d", found, test.want)
			}
		})
	}
}
