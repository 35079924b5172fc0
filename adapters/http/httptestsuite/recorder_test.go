package httptestsuite

import (
	"fmt"
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
	cleanups []func()
}

// watch runs a function to its end, as the testing package would, and returns what it recorded.
func watch(t *testing.T, run func(t testing.TB)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // of its own, for Fatalf and Skipf end it
		defer close(done)
		run(r)
	}()
	<-done
	for _, cleanup := range slices.Backward(r.cleanups) {
		cleanup()
	}
	return r
}

// text is all that was recorded.
func (r *recorder) text() string { return strings.Join(r.failures, "\n") }

func (r *recorder) Error(args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprint(args...))
}

func (r *recorder) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Cleanup(cleanup func()) { r.cleanups = append(r.cleanups, cleanup) }
