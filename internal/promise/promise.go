// Package promise defines the form of the conformance suites. A suite states each promise once, as a check function
// with a text. The name of the case, the table of the suite and the proof that the check can fail follow from the
// promise.
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

// Check tests whether an adapter keeps a promise. It takes a testing.TB, so that Watch can record its failures.
type Check[Harness any] = func(t testing.TB, harness Harness)

// Promise is a case of a suite: a check, and the text of the promise.
type Promise[Harness any] struct {
	Check Check[Harness]
	Says  string
}

// That returns a promise.
func That[Harness any](check Check[Harness], says string) Promise[Harness] {
	return Promise[Harness]{check, says}
}

var (
	// boundary matches the boundaries between the words of a name: before a capital letter that begins a word, and around
	// numbers.
	boundary = regexp.MustCompile(`([A-Z]+|[0-9]+)([A-Z][a-z])|([a-z])([A-Z0-9])|([A-Z]+)([0-9])|([0-9])([A-Z])`)
	// spelling replaces words that the name of a Go function cannot spell.
	spelling = strings.NewReplacer(
		"is a failures", "is a failure's", "a held back append", "a held-back append", "another sources", "another source's",
		"application JSON", "application/json", "HTTP 10", "HTTP/1.0", "bodies have a limit", "64 KiB are read and no more",
	)
)

// Name returns the name of the case, which is the name of its check function split into words. It omits the prefix
// "resolver". A harness waives a case by its name.
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

// Hold runs the check of each promise in a subtest, unless the promise is waived. A failed case logs its promise.
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

// Hold runs the check of the promise. If the promise is waived, it skips the case with the reason.
func (p Promise[Harness]) Hold(t testing.TB, harness Harness, waived map[string]string) {
	t.Helper()
	if reason, ok := waived[p.Name()]; ok {
		t.Skipf("waived: %s", reason)
	}
	p.Check(t, harness)
}

// CheckWaivers fails for each waiver whose name is not the name of a case, such as the old name of a renamed case.
func CheckWaivers[Harness any](t testing.TB, promises []Promise[Harness], waived map[string]string) {
	t.Helper()
	for name := range waived {
		Assert(t, slices.ContainsFunc(promises, func(p Promise[Harness]) bool { return p.Name() == name }),
			"the harness waives %q, which is no case", name)
	}
}

// Table writes the table of a suite and adds the names of its cases to seen. All names must begin with prefix.
func Table[Harness any](
	t testing.TB, w *strings.Builder, seen map[string]bool, suite, prefix string, promises []Promise[Harness],
) {
	t.Helper()
	fmt.Fprintf(w, "\n## %s\n\n| case | promise |\n|---|---|\n", suite)
	for _, p := range promises {
		name := p.Name()
		Assert(t, !seen[name] && strings.HasPrefix(name, prefix) && p.Says != "",
			"%q is the name of two cases, does not begin with %q, or has no text", name, prefix)
		seen[name] = true
		fmt.Fprintf(w, "| %s | %s |\n", name, p.Says)
	}
}

// Assert reports an error unless holds is true.
func Assert(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// Must reports an error and ends the case unless holds is true.
func Must(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Fatalf(format, args...)
	}
}
