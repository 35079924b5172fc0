package promise

import (
	"strings"
	"testing"
)

// Finds has the checks that must fail for one defect. The key is the reason, a text that the failures of the checks
// must contain.
type Finds[Harness any] map[string][]Check[Harness]

// All returns Finds with the checks of all promises. Use it for a defect that makes every check fail for the same
// reason.
func All[Harness any](promises []Promise[Harness], reason string) Finds[Harness] {
	all := Finds[Harness]{}
	for _, p := range promises {
		all[reason] = append(all[reason], p.Check)
	}
	return all
}

// Reason reports whether the check of the promise must fail. If so, it returns the text that the failure must contain.
func (f Finds[Harness]) Reason(t testing.TB, p Promise[Harness]) (text string, expected bool) {
	t.Helper()
	for reason, checks := range f {
		if p.IsIn(checks) {
			Assert(t, !expected, "%q is to fail for two reasons: %q and %q", p.Name(), reason, text)
			text, expected = reason, true
		}
	}
	return text, expected
}

// ExpectDefects proves that checks find defects. A defect is a deliberate fault of a system. For each defect, the given
// function returns the harness of a system with this defect, and the checks that must fail with their reasons. The test
// fails if such a check passes, or if its failure does not contain the reason.
func ExpectDefects[Defect, Harness any](
	t *testing.T, promises []Promise[Harness], broken func(Defect) (Harness, Finds[Harness]), defects map[string]Defect,
) {
	t.Helper()
	for defect, how := range defects {
		harness, found := broken(how)
		found.expectIn(t, promises)
		t.Run(defect, func(t *testing.T) {
			t.Parallel()
			for _, p := range promises {
				if reason, finds := found.Reason(t, p); finds {
					p.expect(t, p.failures(t, harness, true), true, reason)
				}
			}
		})
	}
}

// ExpectFailures runs the checks of all promises. It reports an error unless exactly the expected checks fail, each
// with a failure that contains the expected reason.
func ExpectFailures[Harness any](t testing.TB, promises []Promise[Harness], harness Harness, want Finds[Harness]) {
	t.Helper()
	want.expectIn(t, promises)
	for _, p := range promises {
		reason, expected := want.Reason(t, p)
		p.expect(t, p.failures(t, harness, expected), expected, reason)
	}
}

// expectIn reports an error if a check in f belongs to none of the promises.
func (f Finds[Harness]) expectIn(t testing.TB, promises []Promise[Harness]) {
	t.Helper()
	left := 0
	for _, checks := range f {
		left += len(checks)
	}
	for _, p := range promises {
		if _, finds := f.Reason(t, p); finds {
			left--
		}
	}
	Assert(t, left == 0, "%d of the checks that are to fail are not of these promises", left)
}

// maxRuns is the maximum number of runs of a check that must find a defect. Some defects cause a failure only with a
// certain timing.
const maxRuns = 5

// failures runs the check and returns the texts of its failures. A check that must fail but passes runs again, at most
// maxRuns times in all.
func (p Promise[Harness]) failures(t testing.TB, harness Harness, mustFail bool) (failures string) {
	t.Helper()
	for run := 0; run == 0 || mustFail && failures == "" && run < maxRuns; run++ {
		failures = Watch(t, func(t testing.TB) { t.Helper(); p.Check(t, harness) }).Failures()
	}
	return failures
}

// expect reports an error in three cases: the check passes although it must fail, it fails although it must pass, or
// its failure does not contain the given reason.
func (p Promise[Harness]) expect(t testing.TB, failures string, expected bool, reason string) {
	t.Helper()
	switch {
	case expected && failures == "":
		t.Errorf("%q passed", p.Name())
	case !expected && failures != "":
		t.Errorf("%q failed:\n%.2000s", p.Name(), failures)
	case !strings.Contains(failures, reason):
		t.Errorf("%q failed, but not for the reason %q:\n%.2000s", p.Name(), reason, failures)
	}
}
