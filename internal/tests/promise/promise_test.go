package promise_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/promise"
)

func idsOfANoteAreInUTCAndJSON(t testing.TB, sound bool) {
	t.Helper()
	promise.Assert(t, sound, "the note is wrong")
}

func unreachableStoreIs503(t testing.TB, sound bool) {
	t.Helper()
	promise.Must(t, sound, "it is 200")
}

func exportOverHTTP10IsWhole(testing.TB, bool) {}

var promises = []promise.Promise[bool]{
	promise.That(idsOfANoteAreInUTCAndJSON, "ids are in UTC"), promise.That(unreachableStoreIs503, "a store is 503"),
	promise.That(exportOverHTTP10IsWhole, "an export is whole"),
}

func TestACaseHasTheNameOfItsCheck(t *testing.T) {
	table := &strings.Builder{}
	promise.Table(t, table, map[string]bool{}, "Test", "", promises)
	for _, want := range []string{
		"| ids of a note are in UTC and JSON | ids are in UTC |", "| unreachable store is 503 | a store is 503 |",
		"| export over HTTP/1.0 is whole | an export is whole |",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
}

// ExpectFailures must fail if an expected failure is missing, if a check fails for another reason, or if a check fails
// that must pass.
func TestAnInvalidProofFails(t *testing.T) {
	type finds = promise.Finds[bool]
	both := finds{"the note": {idsOfANoteAreInUTCAndJSON}, "it is": {unreachableStoreIs503}}
	for name, test := range map[string]struct {
		promises []promise.Promise[bool]
		sound    bool
		want     finds
		failure  string
	}{
		"all is well":               {promises, false, both, ""},
		"nothing is broken":         {promises, true, finds{}, ""},
		"a check that passes":       {promises, true, finds{"": {exportOverHTTP10IsWhole}}, `HTTP/1.0 is whole" passed`},
		"another reason":            {promises, false, finds{"else": {idsOfANoteAreInUTCAndJSON}}, `for the reason "else"`},
		"a failure that is not due": {promises, false, finds{"it is": {unreachableStoreIs503}}, `JSON" failed:`},
		"a check of another suite":  {promises[:1], false, both, "1 of the checks that are to fail are not"},
		"two reasons": {
			promises[:1], false, finds{"the": {idsOfANoteAreInUTCAndJSON}, "note": {idsOfANoteAreInUTCAndJSON}}, "two reasons",
		},
	} {
		got := promise.Watch(t, func(t testing.TB) {
			t.Helper()
			promise.ExpectFailures(t, test.promises, test.sound, test.want)
		})
		if !strings.Contains(got.Failures(), test.failure) || test.failure == "" && got.Failed() {
			t.Errorf("%s: failed with %q, want %q", name, got.Failures(), test.failure)
		}
	}
}

func TestAWaiverNeedsACase(t *testing.T) {
	waived := map[string]string{"unreachable store is 503": "it is never away", "no such case": "because"}
	checked := promise.Watch(t, func(t testing.TB) { t.Helper(); promise.CheckWaivers(t, promises, waived) })
	if got := checked.Failures(); got != `the harness waives "no such case", which is no case` {
		t.Errorf("the failures are %q", got)
	}
	r := promise.Watch(t, func(t testing.TB) { t.Helper(); promises[1].Hold(t, false, waived) })
	if r.Failed() || !r.Skipped() {
		t.Errorf("a case that is waived fails with %q", r.Failures())
	}
}
