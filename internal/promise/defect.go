package promise

import (
	"maps"
	"strings"
	"testing"
)

// Finds has the checks that find a defect. Its keys are texts that the failures of these checks must contain.
type Finds[Harness any] map[string][]Check[Harness]

// All returns Finds with the checks of all promises, for a defect that makes every check fail for the same reason.
func All[Harness any](promises []Promise[Harness], reason string) Finds[Harness] {
	all := Finds[Harness]{}
	for _, p := range promises {
		all[reason] = append(all[reason], p.Check)
	}
	return all
}

// Reason returns the text that the failure of a promise must contain, and whether the promise must fail.
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

// Topics returns all defects, each with the name topic/defect.
func Topics[D any](of map[string]map[string]D) map[string]D {
	all := map[string]D{}
	for topic, defects := range of {
		for name, defect := range defects {
			all[topic+"/"+name] = defect
		}
	}
	return all
}

// ExpectDefects runs the checks of the promises against each broken system. The set of failed checks must equal the
// record in testdata/<test>.txt. If update is set, ExpectDefects writes the record instead. A check that broken returns
// must fail, and its failure must contain the given reason. For each promise, broken must return its check for at least
// one defect. A slow check runs only for defects that it must find.
func ExpectDefects[Defect, Harness any](
	t *testing.T, update bool, promises []Promise[Harness], broken func(Defect) (Harness, Finds[Harness]),
	defects map[string]Defect, slow ...Check[Harness],
) {
	t.Helper()
	record, proven := recordOf(t, update, maps.Keys(defects)), map[string]bool{}
	for defect, how := range defects {
		harness, found := broken(how)
		found.expectIn(t, promises)
		for _, p := range promises {
			_, finds := found.Reason(t, p)
			proven[p.Name()] = proven[p.Name()] || finds
		}
		t.Run(defect, func(t *testing.T) {
			t.Parallel()
			record.begin(defect)
			for _, p := range promises {
				reason, finds := found.Reason(t, p)
				expected := finds || record.has(defect, p.Name())
				if !expected && p.IsIn(slow) {
					continue
				}
				failures := p.failures(t, harness, expected)
				if failures != "" {
					record.note(defect, p.Name())
				}
				if finds || !update {
					p.expect(t, failures, expected, reason)
				}
			}
		})
	}
	for name, proven := range proven {
		Assert(t, proven, "no defect is found by %q", name)
	}
}

// ExpectFailures runs the checks of all promises. Exactly the checks in want must fail, and each failure must contain
// its text.
func ExpectFailures[Harness any](t testing.TB, promises []Promise[Harness], harness Harness, want Finds[Harness]) {
	t.Helper()
	want.expectIn(t, promises)
	for _, p := range promises {
		reason, expected := want.Reason(t, p)
		p.expect(t, p.failures(t, harness, expected), expected, reason)
	}
}

// expectIn fails unless every check belongs to one of the promises.
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

// attempts is the maximum number of runs of a check that must find a defect. Some defects show only with a certain
// timing.
const attempts = 5

// failures returns the failures of the check. If the check must fail and passes, it runs again, up to attempts times.
func (p Promise[Harness]) failures(t testing.TB, harness Harness, expected bool) (failures string) {
	t.Helper()
	for attempt := 0; attempt == 0 || expected && failures == "" && attempt < attempts; attempt++ {
		failures = Watch(t, func(t testing.TB) { t.Helper(); p.Check(t, harness) }).Failures()
	}
	return failures
}

// expect fails unless the check has failed for the expected reason, or has passed as expected.
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
