package porttest

import (
	"fmt"
	"runtime"
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

// watch runs a case to its end, as the testing package would, and returns what it recorded.
func watch[Harness any](t *testing.T, c suiteCase[Harness], harness Harness) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // of its own, for FailNow and Skip end it
		defer close(done)
		c.run(r, harness)
	}()
	<-done
	return r
}

// attempts is how often a case may try to find a defect that shows only if something happens in time.
const attempts = 5

// expectFailures runs all cases and expects exactly those in want to fail, each with a failure that holds the text.
func expectFailures[Harness any](t *testing.T, cases []suiteCase[Harness], harness Harness, want map[string]string) {
	t.Helper()
	known := map[string]bool{}
	for _, c := range cases {
		known[c.name] = true
		text, expected := want[c.name]
		failures := strings.Join(watch(t, c, harness).failures, "\n")
		for attempt := 1; expected && failures == "" && attempt < attempts; attempt++ {
			failures = strings.Join(watch(t, c, harness).failures, "\n")
		}
		switch {
		case expected && failures == "":
			t.Errorf("%q passed", c.name)
		case !expected && failures != "":
			t.Errorf("%q failed:\n%s", c.name, failures)
		case !strings.Contains(failures, text):
			t.Errorf("%q failed, but not for the reason %q:\n%s", c.name, text, failures)
		}
	}
	for name := range want {
		if !known[name] {
			t.Errorf("there is no case %q", name)
		}
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
