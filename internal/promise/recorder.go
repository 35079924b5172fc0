package promise

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Record is what a function did to the testing.TB that it was given.
type Record interface {
	Failed() bool
	Failures() string // the text of all failures
	Skipped() bool
	SkippedBy() string // the reason why the case was skipped
}

// recorder is a testing.TB that records failures instead of failing, so that a test can watch a suite fail. All other
// calls go to the surrounding test.
type recorder struct {
	testing.TB

	mu        sync.Mutex
	failures  []string
	skippedBy string
	cleanups  []func()
}

// Watch runs a function to its end, as the testing package would, and returns what it recorded.
func Watch(t testing.TB, run func(t testing.TB)) Record {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // of its own, for FailNow and Skip end it
		defer close(done)
		run(r)
	}()
	<-done
	for _, cleanup := range slices.Backward(r.cleanups) {
		cleanup()
	}
	return r
}

func (r *recorder) Failures() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.failures, "\n")
}

func (r *recorder) SkippedBy() string { return r.skippedBy }

func (r *recorder) Error(args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprint(args...))
}

func (r *recorder) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }
func (r *recorder) Fail()                             { r.Error("failed") }
func (r *recorder) Failed() bool                      { return r.Failures() != "" }
func (r *recorder) Cleanup(cleanup func())            { r.cleanups = append(r.cleanups, cleanup) }

func (r *recorder) Fatal(args ...any)                 { r.Error(args...); runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }
func (r *recorder) FailNow()                          { r.Fail(); runtime.Goexit() }

func (r *recorder) Skip(args ...any)                 { r.skippedBy = fmt.Sprint(args...); runtime.Goexit() }
func (r *recorder) Skipf(format string, args ...any) { r.Skip(fmt.Sprintf(format, args...)) }
func (r *recorder) SkipNow()                         { r.Skip("skipped") }
func (r *recorder) Skipped() bool                    { return r.skippedBy != "" }
