package promise

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Recorder is a testing.TB that records failures instead of failing, so that a test can watch a suite fail. All other
// calls go to the surrounding test.
type Recorder struct {
	testing.TB

	mu        sync.Mutex
	failures  []string
	skippedBy string
	cleanups  []func()
}

// Watch runs a function to its end, as the testing package would, and returns what it recorded.
func Watch(t testing.TB, run func(t testing.TB)) *Recorder {
	t.Helper()
	r := &Recorder{TB: t}
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

// Failures is the text of all failures.
func (r *Recorder) Failures() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.failures, "\n")
}

// SkippedBy is the reason why the case was skipped, if it was.
func (r *Recorder) SkippedBy() string { return r.skippedBy }

// Error implements testing.TB, and so do the others.
func (r *Recorder) Error(args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprint(args...))
}

func (r *Recorder) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }
func (r *Recorder) Fail()                             { r.Error("failed") }
func (r *Recorder) Failed() bool                      { return r.Failures() != "" }
func (r *Recorder) Cleanup(cleanup func())            { r.cleanups = append(r.cleanups, cleanup) }

func (r *Recorder) Fatal(args ...any)                 { r.Error(args...); runtime.Goexit() }
func (r *Recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }
func (r *Recorder) FailNow()                          { r.Fail(); runtime.Goexit() }

func (r *Recorder) Skip(args ...any)                 { r.skippedBy = fmt.Sprint(args...); runtime.Goexit() }
func (r *Recorder) Skipf(format string, args ...any) { r.Skip(fmt.Sprintf(format, args...)) }
func (r *Recorder) SkipNow()                         { r.Skip("skipped") }
func (r *Recorder) Skipped() bool                    { return r.skippedBy != "" }
