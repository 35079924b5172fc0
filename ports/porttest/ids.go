package porttest

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// TestIDSource checks that a source of identifiers keeps the promises of ports.IDSource. New returns a source like those
// of other processes:
//
//	promise                                                          case
//	an id can be stored: 1 to 255 characters, valid UTF-8, no NUL    id can be stored
//	an id was never returned before                                  id is never repeated
//	nor by another source, as other processes have                   id is not another source's
//	a source is safe for concurrent use (run with -race)             id can be made at once
func TestIDSource(t *testing.T, newSource func() ports.IDSource) {
	t.Helper()
	for _, c := range idCases {
		t.Run(c.name, func(t *testing.T) { c.run(t, newSource) })
	}
}

var idCases = []suiteCase[func() ports.IDSource]{
	{"id can be stored", idCanBeStored},
	{"id is never repeated", idIsNeverRepeated},
	{"id is not another source's", idIsNotAnotherSources},
	{"id can be made at once", idCanBeMadeAtOnce},
}

// ids is how many identifiers a case has made.
const ids = 10_000

func idCanBeStored(t testing.TB, newSource func() ports.IDSource) {
	source := newSource()
	for range ids {
		id := source.NewID()
		if id == "" || utf8.RuneCountInString(id) > domain.MaxTextLength || !utf8.ValidString(id) || strings.ContainsRune(id, 0) {
			t.Fatalf("the id %q is not 1 to %d characters of valid UTF-8 without NUL", id, domain.MaxTextLength)
		}
	}
}

func idIsNeverRepeated(t testing.TB, newSource func() ports.IDSource) {
	expectUnique(t, takeFrom(newSource(), ids))
}

func idIsNotAnotherSources(t testing.TB, newSource func() ports.IDSource) {
	const sources = 100
	var all []string
	for range sources {
		all = append(all, takeFrom(newSource(), ids/sources)...)
	}
	expectUnique(t, all)
}

func idCanBeMadeAtOnce(t testing.TB, newSource func() ports.IDSource) {
	source, taken := newSource(), make([][]string, concurrent)
	var callers sync.WaitGroup
	for i := range concurrent {
		callers.Go(func() { taken[i] = takeFrom(source, ids/concurrent) })
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
	if unique := len(slices.Compact(slices.Clone(all))); unique < len(all) {
		t.Errorf("of %d ids, %d are repeated", len(all), len(all)-unique)
	}
}
