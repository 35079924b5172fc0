package porttest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write promises.md instead of comparing with it")

// promises.md is made of the suites. Waivers and test output have nothing but the names to go by, so each of a store's
// begins with the word of its port, and none is used twice.
func TestTheTableOfPromisesIsThatOfTheSuites(t *testing.T) {
	table := &strings.Builder{}
	fmt.Fprint(table, "# Promises\n\nMade by `go test ./ports/porttest -run TheTable -update`.\n")
	seen := map[string]bool{}
	write(t, table, seen, "TestSessions", "session ", sessionPromises)
	write(t, table, seen, "TestConsentStore", "consent ", consentPromises)
	write(t, table, seen, "TestRestrictionStore", "restriction ", restrictionPromises)
	write(t, table, seen, "TestSubjectStore", "subject ", subjectPromises)
	write(t, table, seen, "TestOutbox", "outbox ", outboxPromises)
	write(t, table, seen, "TestAuditLog", "audit ", auditPromises)
	if len(seen) != len(storagePromises()) {
		t.Errorf("%d names for the %d cases of TestStore", len(seen), len(storagePromises()))
	}
	write(t, table, seen, "TestIDSource", "id ", idPromises)
	write(t, table, seen, "TestResolver", "", resolverPromises)
	if *update {
		if err := os.WriteFile("promises.md", []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("promises.md"); err != nil || string(got) != table.String() {
		t.Errorf("promises.md is not the table of the suites: %v", err)
	}
}

func write[Harness any](
	t *testing.T, table *strings.Builder, seen map[string]bool, suite, prefix string, promises []promise[Harness],
) {
	t.Helper()
	fmt.Fprintf(table, "\n## %s\n\n| case | promise |\n|---|---|\n", suite)
	for _, p := range promises {
		if seen[p.name] || !strings.HasPrefix(p.name, prefix) || p.says == "" {
			t.Errorf("%q is the name of two cases, does not begin with %q, or says nothing", p.name, prefix)
		}
		seen[p.name] = true
		fmt.Fprintf(table, "| %s | %s |\n", p.name, p.says)
	}
}
