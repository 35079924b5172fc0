package porttest

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recorder is a testing.TB that writes failures down in place of failing, so that a test can watch a suite fail. What
// it does not record is the surrounding test's.
type recorder struct {
	testing.TB

	mu       sync.Mutex
	failures []string
	skipped  string
}

// watch runs a check to its end, as the testing package would, and returns what it recorded.
func watch[Harness any](t *testing.T, check func(testing.TB, Harness), harness Harness) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // of its own, for FailNow and Skip end it
		defer close(done)
		check(r, harness)
	}()
	<-done
	return r
}

// attempts is how often a case may try to find a defect that shows only if something happens in time.
const attempts = 5

// finds are the checks that find a defect, by a text that a failure of theirs holds.
type finds[Harness any] map[string][]func(testing.TB, Harness)

// isIn reports whether the promise's check is among some.
func (p promise[Harness]) isIn(checks []func(testing.TB, Harness)) bool {
	return slices.ContainsFunc(checks, func(check func(testing.TB, Harness)) bool {
		return reflect.ValueOf(check).Pointer() == reflect.ValueOf(p.check).Pointer()
	})
}

// reason returns the text that a failure of the promise is to hold, if it is to fail.
func (f finds[Harness]) reason(t *testing.T, p promise[Harness]) (text string, expected bool) {
	t.Helper()
	for reason, checks := range f {
		if !p.isIn(checks) {
			continue
		}
		if expected {
			t.Errorf("%q is to fail for two reasons: %q and %q", p.name, reason, text)
		}
		text, expected = reason, true
	}
	return text, expected
}

// defect is a way to break promises, and the checks that find it.
type defect[Break, Harness any] struct {
	breaks Break
	found  finds[Harness]
}

// topics are all defects, each under the name of its topic and its own.
func topics[D any](of map[string]map[string]D) map[string]D {
	all := map[string]D{}
	for topic, defects := range of {
		for name, defect := range defects {
			all[topic+"/"+name] = defect
		}
	}
	return all
}

// everyCheck is to fail, for the same reason.
func everyCheck[Harness any](promises []promise[Harness], reason string) finds[Harness] {
	all := finds[Harness]{}
	for _, p := range promises {
		all[reason] = append(all[reason], p.check)
	}
	return all
}

// expectDefects checks the promises against each broken system: exactly the checks that are named find the defect. Each
// promise has a defect that its check finds.
func expectDefects[Break, Harness any](
	t *testing.T, promises []promise[Harness], broken func(Break) Harness, defects map[string]defect[Break, Harness],
) {
	t.Helper()
	proven := map[string]bool{}
	for name, defect := range defects {
		for _, p := range promises {
			_, finds := defect.found.reason(t, p)
			proven[p.name] = proven[p.name] || finds
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectFailures(t, promises, broken(defect.breaks), defect.found)
		})
	}
	for name, proven := range proven {
		if !proven {
			t.Errorf("no defect is found by %q", name)
		}
	}
}

// expectFailures checks all promises and expects exactly those in want to fail, each with a failure that holds the text.
func expectFailures[Harness any](
	t *testing.T, promises []promise[Harness], harness Harness, want finds[Harness],
) {
	t.Helper()
	unknown := 0
	for _, checks := range want {
		unknown += len(checks)
	}
	for _, p := range promises {
		text, expected := want.reason(t, p)
		failures := strings.Join(watch(t, p.check, harness).failures, "\n")
		for attempt := 1; expected && failures == "" && attempt < attempts; attempt++ {
			failures = strings.Join(watch(t, p.check, harness).failures, "\n")
		}
		switch {
		case expected && failures == "":
			t.Errorf("%q passed", p.name)
		case !expected && failures != "":
			t.Errorf("%q failed:\n%s", p.name, failures)
		case !strings.Contains(failures, text):
			t.Errorf("%q failed, but not for the reason %q:\n%s", p.name, text, failures)
		}
		if expected {
			unknown--
		}
	}
	if unknown != 0 {
		t.Errorf("%d of the checks that are to fail are not of these promises", unknown)
	}
}

func (r *recorder) record(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, text)
}

func (r *recorder) Error(args ...any)                 { r.record(fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.record(fmt.Sprintf(format, args...)) }
func (r *recorder) Fail()                             { r.record("failed") }

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) FailNow() {
	r.Fail()
	runtime.Goexit()
}

func (r *recorder) Skip(args ...any) {
	r.skipped = fmt.Sprint(args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) { r.Skip(fmt.Sprintf(format, args...)) }
func (r *recorder) SkipNow()                         { r.Skip("skipped") }
func (r *recorder) Skipped() bool                    { return r.skipped != "" }

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) > 0
}
