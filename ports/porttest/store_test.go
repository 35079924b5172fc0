package porttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/promise"
)

func TestAStoreThatKeepsItsPromisesPasses(t *testing.T) {
	harness := inMemory(noDefect)
	TestStore(t, harness)
	t.Run("CatalogReader", func(t *testing.T) { TestCatalogReader(t, harness) })
	t.Run("Finder", func(t *testing.T) { TestFinder(t, harness) })
}

func TestAStoreHarnessThatIsIncompleteFails(t *testing.T) {
	for name, broken := range map[string]StoreHarness{
		"no Open":     {},
		"no Sessions": inMemory(func(s *Store) { s.Sessions = nil }),
		"no Insert":   inMemory(func(s *Store) { s.Insert = nil }),
		"no Rows":     inMemory(func(s *Store) { s.Rows = nil }),
	} {
		t.Run(name, func(t *testing.T) {
			all := storagePromises()
			promise.ExpectFailures(t, all, broken, promise.All(all, "the harness is incomplete"))
		})
	}
}

// A case that needs a missing function of Store must fail. If the case were skipped, a store could pass without the
// check.
func TestAHookThatIsMissingFailsTheCasesThatNeedIt(t *testing.T) {
	needing := slices.Concat(sessionPromises, auditPromises, promisesOf(
		subjectLockLeavesAMark, outboxSuccessIsForgotten, subjectIDsAreCheckedBeforeAnyStatement,
		subjectStatementsDoNotDependOnRows,
	))
	hooks := defects{
		"Statements": {func(s *Store) { s.Statements = nil }, found{
			"": {subjectIDsAreCheckedBeforeAnyStatement, subjectStatementsDoNotDependOnRows},
		}},
		"Unreachable": {func(s *Store) { s.Unreachable = nil }, found{"": {sessionReportsAStoreThatCannotBeReached}}},
		"Tamper":      {func(s *Store) { s.Tamper = nil }, found{"": {auditEventsCannotBeTamperedWith}}},
		"Connections": {func(s *Store) { s.Connections = nil }, found{
			"": {sessionOpensNoConnectionBeforeItsFirstStatement, sessionLeavesNoConnectionBehind},
		}},
		"Observed": {func(s *Store) { s.Observed = nil }, found{"": {sessionIsObserved}}},
		"Erased":   {func(s *Store) { s.Erased = nil }, found{"": {subjectLockLeavesAMark}}},
		"Entries":  {func(s *Store) { s.Entries = nil }, found{"": {outboxSuccessIsForgotten}}},
	}
	for hook, defect := range hooks {
		t.Run(hook, func(t *testing.T) {
			promise.ExpectFailures(t, needing, inMemory(defect.breaks), found{"Store." + hook + " is not set": defect.found[""]})
		})
	}
}

func TestAWaivedCaseIsNotRun(t *testing.T) {
	kept, copies := promisesOf(auditPayloadComesBack)[0], promisesOf(sessionKeepsCopies)[0]
	waive := map[string]string{kept.Name(): "for a reason"}
	waived := promise.Watch(t, func(t testing.TB) { kept.Hold(t, StoreHarness{}, waive) })
	if waived.Failed() || waived.SkippedBy() != "waived: for a reason" {
		t.Errorf("skipped with %q, and failed with %q", waived.SkippedBy(), waived.Failures())
	}
	other := promise.Watch(t, func(t testing.TB) { copies.Hold(t, StoreHarness{}, waive) })
	if other.Skipped() || !strings.Contains(other.Failures(), "the harness is incomplete") {
		t.Errorf("another one was skipped with %q, and failed with %q", other.SkippedBy(), other.Failures())
	}
}

func TestAWaiverOfNoCaseFails(t *testing.T) {
	failures := promise.Watch(t, func(t testing.TB) {
		waived := map[string]string{"session keeps copies": "it does not", "session flies": "it cannot"}
		promise.CheckWaivers(t, storagePromises(), waived)
	}).Failures()
	if failures != `the harness waives "session flies", which is no case` {
		t.Errorf("the failures are %q", failures)
	}
}
