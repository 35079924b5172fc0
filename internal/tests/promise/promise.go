// Package promise defines the form of the conformance suites. A suite is a list of promises. Each promise has a check
// function and a text. The name of a test case, the table of the suite in the documentation, and the proof that the
// check can fail are derived from the promise.
package promise

import (
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Check tests whether an adapter keeps a promise. Its parameter is a testing.TB and not a *testing.T, so that Watch can
// record the failures.
type Check[Harness any] = func(t testing.TB, harness Harness)

// Promise is a test case of a suite: a check function, and the text of the promise in words.
type Promise[Harness any] struct {
	Check Check[Harness]
	Says  string
}

// That returns a promise.
func That[Harness any](check Check[Harness], says string) Promise[Harness] {
	return Promise[Harness]{check, says}
}

var (
	// boundary matches the boundaries between the words of a Go name. Boundaries are before a capital letter that begins a
	// word, and before and after a number.
	boundary = regexp.MustCompile(`([A-Z]+|[0-9]+)([A-Z][a-z])|([a-z])([A-Z0-9])|([A-Z]+)([0-9])|([0-9])([A-Z])`)
	// spelling corrects texts that a Go name cannot spell, such as "HTTP/1.0".
	spelling = strings.NewReplacer(
		"is a failures", "is a failure's", "a held back append", "a held-back append", "another sources", "another source's",
		"application JSON", "application/json", "HTTP 10", "HTTP/1.0", "bodies have a limit", "64 KiB are read and no more",
	)
)

// Name returns the name of the test case. It is the name of the check function without the prefix "resolver", split
// into words. A harness uses this name to waive the case.
func (p Promise[Harness]) Name() string {
	check := runtime.FuncForPC(reflect.ValueOf(p.Check).Pointer()).Name()
	check = strings.TrimPrefix(check[strings.LastIndexByte(check, '.')+1:], "resolver")
	for before := ""; before != check; { // repeated, because boundaries overlap
		before, check = check, boundary.ReplaceAllString(strings.ReplaceAll(check, "IDs", "Ids"), "$1$3$5$7 $2$4$6$8")
	}
	name := strings.Fields(check)
	for i, word := range name {
		if len(word) == 1 || word != strings.ToUpper(word) {
			name[i] = strings.ToLower(word)
		}
	}
	return spelling.Replace(strings.Join(name, " "))
}

// IsIn reports whether checks contains the check of the promise.
func (p Promise[Harness]) IsIn(checks []Check[Harness]) bool {
	return slices.ContainsFunc(checks, func(check Check[Harness]) bool {
		return reflect.ValueOf(check).Pointer() == reflect.ValueOf(p.Check).Pointer()
	})
}

// Hold runs the check of each promise in a subtest. It skips a promise whose name is a key of waived. The log of a
// failed case has the text of its promise.
func Hold[Harness any](t *testing.T, promises []Promise[Harness], harness Harness, waived map[string]string) {
	t.Helper()
	for _, p := range promises {
		t.Run(p.Name(), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("the promise is: %s", p.Says)
				}
			}()
			p.Hold(t, harness, waived)
		})
	}
}

// Hold runs the check of the promise. If the name of the promise is a key of waived, it skips the case and logs the
// reason in waived.
func (p Promise[Harness]) Hold(t testing.TB, harness Harness, waived map[string]string) {
	t.Helper()
	if reason, ok := waived[p.Name()]; ok {
		t.Skipf("waived: %s", reason)
	}
	p.Check(t, harness)
}

// CheckWaivers reports an error for each key of waived that is not the name of a case, for example because the case was
// renamed.
func CheckWaivers[Harness any](t testing.TB, promises []Promise[Harness], waived map[string]string) {
	t.Helper()
	for name := range waived {
		Assert(t, slices.ContainsFunc(promises, func(p Promise[Harness]) bool { return p.Name() == name }),
			"the harness waives %q, which is no case", name)
	}
}

// Table writes a Markdown table of a suite to w, and adds the names of the suite's test cases to used. It reports
// an error if a name is already in used, or if a name does not begin with the prefix.
func Table[Harness any](
	t testing.TB, w *strings.Builder, used map[string]bool, suite, prefix string, promises []Promise[Harness],
) {
	t.Helper()
	fmt.Fprintf(w, "\n## %s\n\n| case | promise |\n|---|---|\n", suite)
	for _, p := range promises {
		name := p.Name()
		Assert(t, !used[name] && strings.HasPrefix(name, prefix) && p.Says != "",
			"%q is the name of two cases, does not begin with %q, or has no text", name, prefix)
		used[name] = true
		fmt.Fprintf(w, "| %s | %s |\n", name, p.Says)
	}
}

// Assert reports an error if the condition is false.
func Assert(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// Must reports an error and ends the case immediately if the condition is false.
func Must(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Fatalf(format, args...)
	}
}
