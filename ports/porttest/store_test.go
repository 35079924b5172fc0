package porttest

import (
	"slices"
	"strings"
	"testing"
)

func TestAStoreThatKeepsItsPromisesPasses(t *testing.T) { TestStore(t, inMemory(right)) }

func TestAStoreHarnessThatIsIncompleteFails(t *testing.T) {
	for name, broken := range map[string]StoreHarness{
		"no Open":     {},
		"no Sessions": inMemory(func(s *Store) { s.Sessions = nil }),
		"no Insert":   inMemory(func(s *Store) { s.Insert = nil }),
		"no Rows":     inMemory(func(s *Store) { s.Rows = nil }),
	} {
		t.Run(name, func(t *testing.T) {
			all := storagePromises()
			expectFailures(t, all, broken, everyCheck(all, "the harness is incomplete"))
		})
	}
}

// A suite that skipped what it cannot see would pass stores that nobody has looked at.
func TestAHookThatIsMissingFailsTheCasesThatNeedIt(t *testing.T) {
	needing := slices.Concat(sessionPromises, auditPromises, only(subjectLockLeavesAMark, outboxSuccessIsForgotten))
	hooks := defects{
		"Unreachable": {func(s *Store) { s.Unreachable = nil }, found{"": {sessionReportsAStoreThatCannotBeReached}}},
		"Tamper":      {func(s *Store) { s.Tamper = nil }, found{"": {auditEventsCannotBeTamperedWith}}},
		"Connections": {func(s *Store) { s.Connections = nil }, found{
			"": {sessionOpensNoConnectionBeforeItsFirstStatement, sessionLeavesNoConnectionBehind},
		}},
		"Erased":  {func(s *Store) { s.Erased = nil }, found{"": {subjectLockLeavesAMark}}},
		"Entries": {func(s *Store) { s.Entries = nil }, found{"": {outboxSuccessIsForgotten}}},
	}
	for hook, defect := range hooks {
		t.Run(hook, func(t *testing.T) {
			expectFailures(t, needing, inMemory(defect.breaks), found{"Store." + hook + " is not set": defect.found[""]})
		})
	}
}

func TestAWaivedCaseIsNotRun(t *testing.T) {
	ran := map[string]bool{}
	record := func(name string) promise[StoreHarness] {
		return promised(name, "", func(testing.TB, StoreHarness) { ran[name] = true })
	}
	hold(t, []promise[StoreHarness]{record("the waived one"), record("another one")}, StoreHarness{},
		map[string]string{"the waived one": "for a reason"})
	if ran["the waived one"] || !ran["another one"] {
		t.Errorf("these cases ran: %v", ran)
	}
}

func TestAWaiverOfNoCaseFails(t *testing.T) {
	r := &recorder{TB: t}
	checkWaivers(r, StoreHarness{Waive: map[string]string{"session keeps copies": "there is no database", "session flies": "it cannot"}})
	if len(r.failures) != 1 || !strings.Contains(r.failures[0], `waives "session flies", which is no case`) {
		t.Errorf("the failures are %q", r.failures)
	}
}
