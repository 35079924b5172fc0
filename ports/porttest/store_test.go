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
			want := map[string]string{}
			for _, c := range storageCases() {
				want[c.name] = "the harness is incomplete"
			}
			expectFailures(t, storageCases(), broken, want)
		})
	}
}

// A suite that skipped what it cannot see would pass stores that nobody has looked at.
func TestAHookThatIsMissingFailsTheCasesThatNeedIt(t *testing.T) {
	const subjectMark, outboxForgets = "subject lock leaves a mark", "outbox success is forgotten"
	needing := slices.Concat(sessionCases, auditCases)
	for _, c := range storageCases() {
		if c.name == subjectMark || c.name == outboxForgets {
			needing = append(needing, c)
		}
	}
	for hook, test := range map[string]struct {
		without func(*Store)
		needed  []string
	}{
		"Unreachable": {func(s *Store) { s.Unreachable = nil }, []string{sessionAway}},
		"Tamper":      {func(s *Store) { s.Tamper = nil }, []string{auditTampered}},
		"Connections": {func(s *Store) { s.Connections = nil }, []string{sessionConnects, sessionDisconnects}},
		"Erased":      {func(s *Store) { s.Erased = nil }, []string{subjectMark}},
		"Entries":     {func(s *Store) { s.Entries = nil }, []string{outboxForgets}},
	} {
		want := map[string]string{}
		for _, name := range test.needed {
			want[name] = "Store." + hook + " is not set"
		}
		t.Run(hook, func(t *testing.T) { expectFailures(t, needing, inMemory(test.without), want) })
	}
}

func TestAWaivedCaseIsNotRun(t *testing.T) {
	h := StoreHarness{Waive: map[string]string{"the waived one": "for a reason"}}
	ran := map[string]bool{}
	record := func(name string) suiteCase[StoreHarness] {
		return suiteCase[StoreHarness]{name, func(testing.TB, StoreHarness) { ran[name] = true }}
	}
	runStore(t, h, []suiteCase[StoreHarness]{record("the waived one"), record("another one")})
	if ran["the waived one"] || !ran["another one"] {
		t.Errorf("these cases ran: %v", ran)
	}
}

func TestAWaiverOfNoCaseFails(t *testing.T) {
	r := &recorder{TB: t}
	checkWaivers(r, StoreHarness{Waive: map[string]string{sessionAway: "there is no database", "session flies": "it cannot"}})
	if len(r.failures) != 1 || !strings.Contains(r.failures[0], `waives "session flies", which is no case`) {
		t.Errorf("the failures are %q", r.failures)
	}
}
