package porttest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/promise"
)

var update = flag.Bool("update", false, "write promises.md instead of comparing with it")

// The test generates promises.md from the suites and compares it with the file. The name of each storage case must be
// unique and begin with a word for its port, because a harness waives a case by its name.
func TestTheTableOfPromisesIsThatOfTheSuites(t *testing.T) {
	table := &strings.Builder{}
	fmt.Fprint(table, "# Promises\n\nMade by `go test ./ports/porttest -run TheTable -update`. "+
		"The files `defects_*_test.go`, and `make test-mutants` for\n"+
		"the store in memory, prove that the cases find faults.\n")
	seen := map[string]bool{}
	promise.Table(t, table, seen, "TestSessions", "session ", sessionPromises)
	promise.Table(t, table, seen, "TestConsentStore", "consent ", consentPromises)
	promise.Table(t, table, seen, "TestRestrictionStore", "restriction ", restrictionPromises)
	promise.Table(t, table, seen, "TestSubjectStore", "subject ", subjectPromises)
	promise.Table(t, table, seen, "TestLives", "life ", lifePromises)
	promise.Table(t, table, seen, "TestOutbox", "outbox ", outboxPromises)
	promise.Table(t, table, seen, "TestAuditLog", "audit ", auditPromises)
	promise.Table(t, table, seen, "TestErasureMarks", "mark ", markPromises)
	promise.Table(t, table, seen, "TestDutyStore", "duty ", dutyPromises)
	promise.Table(t, table, seen, "TestRetentionSweeper", "sweep ", sweepPromises)
	promise.Table(t, table, seen, "TestRequestStore", "request", requestPromises)
	promise.Table(t, table, seen, "TestHoldStore", "hold ", holdPromises)
	if len(seen) != len(storagePromises()) {
		t.Errorf("%d names for the %d cases of TestStore", len(seen), len(storagePromises()))
	}
	promise.Table(t, table, seen, "TestMaps", "map ", mapPromises)
	promise.Table(t, table, seen, "TestCatalogReader", "catalog ", catalogPromises)
	promise.Table(t, table, seen, "TestJournal", "journal ", journalPromises)
	promise.Table(t, table, seen, "TestFinder", "find ", findPromises)
	promise.Table(t, table, seen, "TestIDSource", "id ", idPromises)
	promise.Table(t, table, seen, "TestObserver", "observer ", observerPromises)
	promise.Table(t, table, seen, "TestResolver", "", resolverPromises)
	if *update {
		if err := os.WriteFile("promises.md", []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("promises.md"); err != nil || string(got) != table.String() {
		t.Errorf("promises.md is not the table of the suites: %v", err)
	}
}
