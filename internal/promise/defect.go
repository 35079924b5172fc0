package promise

import (
	"strings"
	"testing"
)

// Finds are the checks that find a defect, by a text that a failure of theirs holds.
type Finds[Harness any] map[string][]Check[Harness]

// All are all checks, which fail for the same reason.
func All[Harness any](promises []Promise[Harness], reason string) Finds[Harness] {
	all := Finds[Harness]{}
	for _, p := range promises {
		all[reason] = append(all[reason], p.Check)
	}
	return all
}

// Reason returns the text that a failure of the promise is to hold, if it is to fail.
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

// Topics are all defects, each under the name of its topic and its own.
func Topics[D any](of map[string]map[string]D) map[string]D {
	all := map[string]D{}
	for topic, defects := range of {
		for name, defect := range defects {
			all[topic+"/"+name] = defect
		}
	}
	return all
}

// ExpectDefects checks the promises against each broken system: exactly the checks that broken returns find the defect.
// Each promise has a defect that its check finds. The slow checks are made only where they are to find a defect.
func ExpectDefects[Defect, Harness any](
	t *testing.T, promises []Promise[Harness], broken func(Defect) (Harness, Finds[Harness]), defects map[string]Defect,
	slow ...Check[Harness],
) {
	t.Helper()
	proven := map[string]bool{}
	for name, defect := range defects {
		harness, found := broken(defect)
		var made []Promise[Harness]
		for _, p := range promises {
			_, finds := found.Reason(t, p)
			proven[p.Name()] = proven[p.Name()] || finds
			if finds || !p.IsIn(slow) {
				made = append(made, p)
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ExpectFailures(t, made, harness, found)
		})
	}
	for name, proven := range proven {
		Assert(t, proven, "no defect is found by %q", name)
	}
}

// attempts is how often a check may try to find a defect that shows only if something happens in time.
const attempts = 5

// ExpectFailures checks all promises. Exactly those in want must fail, each with a failure that holds the text.
func ExpectFailures[Harness any](t testing.TB, promises []Promise[Harness], harness Harness, want Finds[Harness]) {
	t.Helper()
	left := 0
	for _, checks := range want {
		left += len(checks)
	}
	for _, p := range promises {
		text, expected := want.Reason(t, p)
		failures := ""
		for attempt := 0; attempt == 0 || expected && failures == "" && attempt < attempts; attempt++ {
			failures = Watch(t, func(t testing.TB) { t.Helper(); p.Check(t, harness) }).Failures()
		}
		switch {
		case expected && failures == "":
			t.Errorf("%q passed", p.Name())
		case !expected && failures != "":
			t.Errorf("%q failed:\n%.2000s", p.Name(), failures)
		case !strings.Contains(failures, text):
			t.Errorf("%q failed, but not for the reason %q:\n%.2000s", p.Name(), text, failures)
		}
		if expected {
			left--
		}
	}
	Assert(t, left == 0, "%d of the checks that are to fail are not of these promises", left)
}
