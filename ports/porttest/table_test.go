package porttest

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"slices"
	"strings"
	"testing"
)

// suites are the cases that there are, by the function that runs them.
func suites() map[string][]string {
	return map[string][]string{
		"TestResolver": names(resolverCases), "TestIDSource": names(idCases), "TestSessions": names(sessionCases),
		"TestConsentStore": names(consentCases), "TestRestrictionStore": names(restrictionCases),
		"TestSubjectStore": names(subjectCases), "TestOutbox": names(outboxCases), "TestAuditLog": names(auditCases),
	}
}

func names[Harness any](cases []suiteCase[Harness]) []string {
	all := make([]string, len(cases))
	for i, c := range cases {
		all[i] = c.name
	}
	return all
}

func TestEveryCaseStandsInTheTableOfItsSuite(t *testing.T) {
	comments := functionComments(t)
	for suite, cases := range suites() {
		if listed := tableOf(t, comments[suite]); !slices.Equal(listed, cases) {
			t.Errorf("the table of %s lists\n\t%s\nand its cases are\n\t%s",
				suite, strings.Join(listed, "\n\t"), strings.Join(cases, "\n\t"))
		}
	}
}

// functionComments returns the documentation of this package's functions.
func functionComments(t *testing.T) map[string]string {
	t.Helper()
	packages, err := parser.ParseDir(gotoken.NewFileSet(), ".", nil, parser.ParseComments) //nolint:staticcheck // needs no build tags
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	for _, file := range packages["porttest"].Files {
		for _, declared := range file.Decls {
			if function, ok := declared.(*ast.FuncDecl); ok {
				comments[function.Name.Name] = function.Doc.Text()
			}
		}
	}
	return comments
}

// tableOf returns the second column of the table in a comment.
func tableOf(t *testing.T, comment string) (cases []string) {
	t.Helper()
	column := -1
	for line := range strings.Lines(comment) {
		switch {
		case column < 0 && strings.HasPrefix(line, "\tpromise"):
			column = strings.Index(line, "case")
		case column >= 0 && strings.HasPrefix(line, "\t"):
			if column > len(line) || line[column-1] != ' ' {
				t.Fatalf("no case is named in %q", line)
			}
			cases = append(cases, strings.TrimSpace(line[column:]))
		}
	}
	return cases
}

func TestEachStorageCaseHasAName(t *testing.T) {
	subjects := map[string]string{
		"TestSessions": "session", "TestConsentStore": "consent", "TestRestrictionStore": "restriction",
		"TestSubjectStore": "subject", "TestOutbox": "outbox", "TestAuditLog": "audit",
	}
	seen := map[string]bool{}
	for suite, subject := range subjects {
		for _, name := range suites()[suite] {
			if !strings.HasPrefix(name, subject+" ") {
				t.Errorf("%q is a case of %s", name, suite)
			}
			if seen[name] {
				t.Errorf("%q is the name of two cases", name)
			}
			seen[name] = true
		}
	}
	if len(seen) != len(storageCases()) {
		t.Errorf("%d names for %d cases", len(seen), len(storageCases()))
	}
}
