package arch

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// optional are the interfaces of ports that an adapter may leave out, so that the code finds them by a type assertion.
// External systems differ, and a resolver has no decorators. A store, a session or a session factory must have none: a
// decorator that does not know of an optional interface takes it away.
var optional = map[string]string{
	"RectifyingResolver": "a system that can correct data",
	"KeyResolver":        "a system with objects under keys",
}

func TestNoPortIsOptionalButThoseOfAResolver(t *testing.T) {
	files := sources(t)
	declared := interfacesOf(files)
	if len(declared) < 10 {
		t.Fatalf("there are only %d interfaces in ports: the rule applies to nothing", len(declared))
	}
	seen := map[string]bool{}
	for _, file := range files {
		if file.in("ports/mocks") { // a generated mock asserts the types of its results
			continue
		}
		for _, name := range file.assertions(declared) {
			seen[name] = true
			if optional[name] == "" {
				t.Errorf("%s asserts ports.%s: make it a method of the port, or hand it over", file.path, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(optional)) {
		if !seen[name] {
			t.Errorf("nothing asserts ports.%s: remove it from the list", name)
		}
	}
}

const maxMethods = 10

func TestAPortHasAtMostTenMethods(t *testing.T) {
	declared := interfacesOf(sources(t))
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if methods := methodsOf(name, declared); len(methods) > maxMethods {
			t.Errorf("ports.%s has %d methods, want at most %d: %v", name, len(methods), maxMethods, methods)
		}
	}
}

// interfacesOf returns the interfaces of package ports by their names.
func interfacesOf(files []source) map[string]*ast.InterfaceType {
	declared := map[string]*ast.InterfaceType{}
	for _, file := range files {
		if path.Dir(file.path) != "ports" || strings.HasSuffix(file.path, "_test.go") {
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				if declaration, is := spec.Type.(*ast.InterfaceType); is {
					declared[spec.Name.Name] = declaration
				}
			}
			return true
		})
	}
	return declared
}

// methodsOf returns the names of the methods of an interface, with those of the interfaces that it embeds.
func methodsOf(name string, declared map[string]*ast.InterfaceType) (methods []string) {
	for _, field := range declared[name].Methods.List {
		for _, method := range field.Names {
			methods = append(methods, method.Name)
		}
		if embedded, ok := field.Type.(*ast.Ident); ok && declared[embedded.Name] != nil {
			methods = append(methods, methodsOf(embedded.Name, declared)...)
		}
	}
	return methods
}

// assertions returns the names of the interfaces of ports that the file asserts, in a type assertion or in a type
// switch.
func (s source) assertions(declared map[string]*ast.InterfaceType) (names []string) {
	imported := s.nameOf(module + "/ports")
	note := func(asserted ast.Expr) {
		name, qualifier := asserted, ""
		if selector, ok := asserted.(*ast.SelectorExpr); ok {
			if of, ok := selector.X.(*ast.Ident); ok {
				name, qualifier = selector.Sel, of.Name
			}
		}
		identifier, ok := name.(*ast.Ident)
		inside := qualifier == "" && path.Dir(s.path) == "ports" && s.syntax.Name.Name == "ports"
		if ok && declared[identifier.Name] != nil && (inside || qualifier != "" && qualifier == imported) {
			names = append(names, identifier.Name)
		}
	}
	ast.Inspect(s.syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.TypeAssertExpr:
			if node.Type != nil { // nil in a type switch
				note(node.Type)
			}
		case *ast.TypeSwitchStmt:
			for _, statement := range node.Body.List {
				if clause, ok := statement.(*ast.CaseClause); ok {
					for _, listed := range clause.List {
						note(listed)
					}
				}
			}
		}
		return true
	})
	return names
}

// nameOf returns the name under which the file imports a package, or "".
func (s source) nameOf(importPath string) string {
	for _, spec := range s.syntax.Imports {
		if spec.Path.Value == `"`+importPath+`"` {
			if spec.Name != nil {
				return spec.Name.Name
			}
			return path.Base(importPath)
		}
	}
	return ""
}

func TestTheRuleOnOptionalPortsCatchesWhatItForbids(t *testing.T) {
	const imports = "package x\nimport \"" + module + "/ports\"\n"
	declared := map[string]*ast.InterfaceType{"Finder": {}}
	for name, c := range map[string]struct {
		path, content string
		want          int
	}{
		"an assertion":  {"app/x.go", imports + "func f(s any) { _, _ = s.(ports.Finder) }", 1},
		"a type switch": {"app/x.go", imports + "func f(s any) { switch s.(type) { case int, ports.Finder: } }", 1},
		"in a test":     {"app/x_test.go", imports + "func f(s any) { _ = s.(ports.Finder) }", 1},
		"under another name": {
			"app/x.go", strings.Replace(imports, `"`, `p "`, 1) + "func f(s any) { _ = s.(p.Finder) }", 1,
		},
		"inside of ports":         {"ports/x.go", "package ports\nfunc f(s any) { _ = s.(Finder) }", 1},
		"of another package":      {"app/x.go", imports + "func f(s any) { _ = s.(other.Finder) }", 0},
		"another type":            {"app/x.go", imports + "func f(s any) { _ = s.(ports.Other) }", 0},
		"a type of its own":       {"app/x.go", imports + "func f(s any) { _ = s.(Finder) }", 0},
		"a check of the compiler": {"app/x.go", imports + "var _ ports.Finder = store{}", 0},
	} {
		file, err := parse(c.path, []byte(c.content))
		if err != nil {
			t.Fatal(err)
		}
		if got := file.assertions(declared); len(got) != c.want {
			t.Errorf("%s: found %v, want %d", name, got, c.want)
		}
	}
}
