package promise

import (
	"maps"
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

// ExpectDefects checks the promises against each broken system. The checks that fail are those on record, in
// testdata/<test>.txt, which is written instead if update is set. Those that broken returns are among them, and fail
// for the reason given; each promise has a defect for which its check is returned. The slow checks are made only where
// they are to find a defect.
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

// ExpectFailures checks all promises. Exactly those in want must fail, each with a failure that holds the text.
func ExpectFailures[Harness any](t testing.TB, promises []Promise[Harness], harness Harness, want Finds[Harness]) {
	t.Helper()
	want.expectIn(t, promises)
	for _, p := range promises {
		reason, expected := want.Reason(t, p)
		p.expect(t, p.failures(t, harness, expected), expected, reason)
	}
}

// expectIn checks that all checks are of these promises.
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

// attempts is how often a check may try to find a defect that shows only if something happens in time.
const attempts = 5

// failures returns the failures of the check, which is made again where it is to fail and does not.
func (p Promise[Harness]) failures(t testing.TB, harness Harness, expected bool) (failures string) {
	t.Helper()
	for attempt := 0; attempt == 0 || expected && failures == "" && attempt < attempts; attempt++ {
		failures = Watch(t, func(t testing.TB) { t.Helper(); p.Check(t, harness) }).Failures()
	}
	return failures
}

// expect checks that the check has failed for the reason, or not at all.
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
