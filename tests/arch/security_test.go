package arch

import (
	"go/ast"
	"path"
	"strings"
	"testing"
)

// SECURITY.md names the tests that hold each row of the threat model.
func TestTheTestsOfTheThreatModelExist(t *testing.T) {
	exist := map[string]bool{}
	for _, file := range sources(t) {
		for _, declaration := range file.syntax.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil {
				exist[path.Base(path.Dir(file.path))+"."+f.Name.Name] = true
			}
		}
	}
	rows := tables(document(t, "SECURITY.md"))[0]
	if len(rows) < 10 {
		t.Errorf("the threat model has %d rows", len(rows))
	}
	for _, row := range rows {
		named := quoted(row[len(row)-1])
		if len(row) != 4 || len(named) == 0 {
			t.Errorf("%v: no test", row)
		}
		for _, name := range named {
			if !exist[name] {
				t.Errorf("%s: there is no test %s", row[0], name)
			} else if _, function, _ := strings.Cut(name, "."); !strings.HasPrefix(function, "Test") &&
				!strings.HasPrefix(name, "porttest.") && !strings.HasPrefix(name, "httptestsuite.") {
				t.Errorf("%s: %s is no test, and no case of a suite", row[0], name)
			}
		}
	}
}
