package promise

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Record has the result of a function that was called with a testing.TB: its failures, or the reason of its skip.
type Record interface {
	Failed() bool
	Failures() string // the texts of all failures
	Skipped() bool
	SkippedBy() string // the reason of the skip
}

// recorder is a testing.TB that records failures and skips without failing or skipping the surrounding test. A test can
// therefore observe the failures of a suite. The recorder passes all other calls to the surrounding test.
type recorder struct {
	testing.TB

	mu        sync.Mutex
	failures  []string
	skippedBy string
	cleanups  []func()
}

// Watch runs a function and its cleanups as the testing package does, and returns the record.
func Watch(t testing.TB, run func(t testing.TB)) Record {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // a new goroutine, because FailNow and Skip end it
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
