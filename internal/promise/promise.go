// Package promise is the form of the conformance suites. A promise is stated once: the name of its case, the table of
// the suite and the proof that its check can fail follow from it.
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

// Check holds an adapter to a promise. It takes a testing.TB, so that Watch can see it fail.
type Check[Harness any] = func(t testing.TB, harness Harness)

// Promise is a case of a suite: a check, and what the adapter promises.
type Promise[Harness any] struct {
	Check Check[Harness]
	Says  string
}

// That is a promise.
func That[Harness any](check Check[Harness], says string) Promise[Harness] {
	return Promise[Harness]{check, says}
}

var (
	// boundary is between the words of a name: before a capital letter that begins one, and around numbers.
	boundary = regexp.MustCompile(`([A-Z]+|[0-9]+)([A-Z][a-z])|([a-z])([A-Z0-9])|([A-Z]+)([0-9])|([0-9])([A-Z])`)
	// spelling is of what the name of a function cannot say.
	spelling = strings.NewReplacer(
		"is a failures", "is a failure's", "a held back append", "a held-back append", "another sources", "another source's",
		"application JSON", "application/json", "HTTP 10", "HTTP/1.0", "bodies have a limit", "64 KiB are read and no more",
	)
)

// Name returns the name of the case, which is that of its check in words. A harness waives a case by its name. The word
// resolver, with which the checks of resolvers begin, is left out.
func (p Promise[Harness]) Name() string {
	check := runtime.FuncForPC(reflect.ValueOf(p.Check).Pointer()).Name()
	check = strings.TrimPrefix(check[strings.LastIndexByte(check, '.')+1:], "resolver")
	for before := ""; before != check; { // as often as boundaries overlap
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

// IsIn reports whether the promise's check is among some.
func (p Promise[Harness]) IsIn(checks []Check[Harness]) bool {
	return slices.ContainsFunc(checks, func(check Check[Harness]) bool {
		return reflect.ValueOf(check).Pointer() == reflect.ValueOf(p.Check).Pointer()
	})
}

// Hold checks each promise in a subtest of its own, unless it is waived. A case that fails logs its promise.
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

// Hold checks the promise, or skips it with the reason why it is waived.
func (p Promise[Harness]) Hold(t testing.TB, harness Harness, waived map[string]string) {
	t.Helper()
	if reason, ok := waived[p.Name()]; ok {
		t.Skipf("waived: %s", reason)
	}
	p.Check(t, harness)
}

// CheckWaivers fails for each waiver of no case: it waives nothing, or something that was renamed.
func CheckWaivers[Harness any](t testing.TB, promises []Promise[Harness], waived map[string]string) {
	t.Helper()
	for name := range waived {
		Assert(t, slices.ContainsFunc(promises, func(p Promise[Harness]) bool { return p.Name() == name }),
			"the harness waives %q, which is no case", name)
	}
}

// Table writes the table of a suite, whose names begin with the prefix, and adds them to those that were seen.
func Table[Harness any](
	t testing.TB, w *strings.Builder, seen map[string]bool, suite, prefix string, promises []Promise[Harness],
) {
	t.Helper()
	fmt.Fprintf(w, "\n## %s\n\n| case | promise |\n|---|---|\n", suite)
	for _, p := range promises {
		name := p.Name()
		Assert(t, !seen[name] && strings.HasPrefix(name, prefix) && p.Says != "",
			"%q is the name of two cases, does not begin with %q, or says nothing", name, prefix)
		seen[name] = true
		fmt.Fprintf(w, "| %s | %s |\n", name, p.Says)
	}
}

// Assert fails unless a condition holds.
func Assert(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// Must is Assert, and ends the case.
func Must(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Fatalf(format, args...)
	}
}
