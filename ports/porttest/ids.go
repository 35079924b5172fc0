package porttest

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestIDSource checks that a source of identifiers keeps the promises of ports.IDSource. newSource returns a new source
// at each call, as a new process would create it.
func TestIDSource(t *testing.T, newSource func() ports.IDSource) {
	t.Helper()
	promise.Hold(t, idPromises, newSource, nil)
}

var idPromises = []promise.Promise[func() ports.IDSource]{
	promise.That(idCanBeStored, "An id has 1 to 255 characters of valid UTF-8 without NUL."),
	promise.That(idIsNeverRepeated, "A source never returns the same id twice."),
	promise.That(idIsNotAnotherSources, "Two sources, such as those of two processes, never return the same id."),
	promise.That(idSourceIsSafeForConcurrentUse, "A source is safe for concurrent use (run with -race)."),
}

// idCount is the number of identifiers that a case creates.
const idCount = 10_000

func idCanBeStored(t testing.TB, newSource func() ports.IDSource) {
	source := newSource()
	for range idCount {
		id := source.NewID()
		if id == "" || utf8.RuneCountInString(id) > domain.MaxTextLength || !utf8.ValidString(id) ||
			strings.ContainsRune(id, 0) {
			t.Fatalf("the id %q is not 1 to %d characters of valid UTF-8 without NUL", id, domain.MaxTextLength)
		}
	}
}

func idIsNeverRepeated(t testing.TB, newSource func() ports.IDSource) {
	expectUnique(t, takeFrom(newSource(), idCount))
}

func idIsNotAnotherSources(t testing.TB, newSource func() ports.IDSource) {
	const sources = 100
	var all []string
	for range sources {
		all = append(all, takeFrom(newSource(), idCount/sources)...)
	}
	expectUnique(t, all)
}

func idSourceIsSafeForConcurrentUse(t testing.TB, newSource func() ports.IDSource) {
	source, taken := newSource(), make([][]string, goroutines)
	var callers sync.WaitGroup
	for i := range goroutines {
		callers.Go(func() { taken[i] = takeFrom(source, idCount/goroutines) })
	}
	callers.Wait()
	expectUnique(t, slices.Concat(taken...))
}

func takeFrom(source ports.IDSource, n int) []string {
	taken := make([]string, n)
	for i := range taken {
		taken[i] = source.NewID()
	}
	return taken
}

func expectUnique(t testing.TB, all []string) {
	t.Helper()
	slices.Sort(all)
	unique := len(slices.Compact(slices.Clone(all)))
	assert(t, unique >= len(all), "of %d ids, %d are repeated", len(all), len(all)-unique)
}
