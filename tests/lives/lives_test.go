package lives

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/internal/tests/racedetector"
)

func TestNobodyIsDestroyedShownOrKept(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		seen := play(t, 500, openMemory)
		for _, what := range []string{
			"life ", "life new", "life ended", "life unknown", "verdict erase", "verdict current", "verdict new",
			"verdict other_row", "verdict unclear", "swept", "unclear", "left over", "move replay --restored-to", "Registered",
		} {
			if seen[what] == 0 {
				t.Errorf("no game has %q: %v", what, seen)
			}
		}
	})
	onDatabases := 20
	if racedetector.Enabled { // SQLite is translated from C, and forty times as slow
		onDatabases = 10
	}
	t.Run("SQLite", func(t *testing.T) { play(t, onDatabases, newFileless(t).open) })
	t.Run("PostgreSQL", func(t *testing.T) { play(t, onDatabases, newServer(t).open) })
}

// tally counts what happens in the games of a test, so that the test knows that the games reach it.
type tally map[string]int

// play plays games on a store: the given percentage of the games that the flag -rapid.checks sets. A game has twice as
// many events as -rapid.steps sets, because many of them cannot happen. A failure names the
// seed of its game and a file with its shortest form.
func play(t *testing.T, percentage int, open func(tb, kind) database) (seen tally) {
	t.Helper()
	multiply(t, "rapid.checks", percentage)
	multiply(t, "rapid.steps", 200)
	seen = tally{}
	rapid.Check(t, func(rt *rapid.T) {
		g := newGame(rt, open, seen)
		rt.Repeat(map[string]func(*rapid.T){
			"play": func(t *rapid.T) { g.T = t; g.play() },
		})
	})
	t.Log(seen)
	return seen
}

// multiply multiplies the value of a flag until the test ends.
func multiply(t *testing.T, name string, percentage int) {
	t.Helper()
	before := flag.Lookup(name).Value.String()
	given, err := strconv.Atoi(before)
	must(t, err)
	must(t, flag.Set(name, strconv.Itoa(max(1, given*percentage/100))))
	t.Cleanup(func() { must(t, flag.Set(name, before)) })
}
