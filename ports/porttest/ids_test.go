package porttest

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

type idFunc func() string

func (f idFunc) NewID() string { return f() }

// counting returns a function that creates sources of ids. All sources share one counter. Each id is write(n), where n
// is the next value of the counter.
func counting(write func(n int64) string) func() ports.IDSource {
	var n atomic.Int64
	return func() ports.IDSource { return idFunc(func() string { return write(n.Add(1)) }) }
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func TestASourceOfIDsThatKeepsItsPromisesPasses(t *testing.T) { TestIDSource(t, counting(decimal)) }

func TestSourcesOfIDsThatBreakAPromiseFail(t *testing.T) {
	type found = promise.Finds[func() ports.IDSource]
	type defect struct {
		source func() ports.IDSource
		found  found
	}
	stored := found{"is not 1 to 255 characters": {idCanBeStored}}
	broken := func(d defect) (func() ports.IDSource, found) { return d.source, d.found }
	promise.ExpectDefects(t, idPromises, broken, map[string]defect{
		"no id": {counting(func(int64) string { return "" }), found{
			"is not 1 to 255 characters": {idCanBeStored},
			"are repeated":               {idIsNeverRepeated, idIsNotAnotherSources, idSourceIsSafeForConcurrentUse},
		}},
		"an id of 256":  {counting(func(n int64) string { return strings.Repeat("x", 236) + paddedTo20(n) }), stored},
		"half a letter": {counting(func(n int64) string { return decimal(n) + "\xc3" }), stored},
		"NUL":           {counting(func(n int64) string { return decimal(n) + "\x00" }), stored},
		"an id that comes back": {counting(func(n int64) string { return decimal(n % (idCount - 1)) }), found{
			"1 are repeated": {idIsNeverRepeated, idIsNotAnotherSources, idSourceIsSafeForConcurrentUse},
		}},
		"a counter for each source": {func() ports.IDSource { return counting(decimal)() }, found{
			"are repeated": {idIsNotAnotherSources},
		}},
		"a counter that is not safe": {func() func() ports.IDSource {
			var mu sync.Mutex // avoids the report of the race detector, but two callers still get the same id
			var n int64
			return func() ports.IDSource {
				return idFunc(func() string {
					mu.Lock()
					next := n + 1
					mu.Unlock()
					runtime.Gosched() // simulates a race
					mu.Lock()
					n = next
					mu.Unlock()
					return decimal(next)
				})
			}
		}(), found{"are repeated": {idSourceIsSafeForConcurrentUse}}},
	})
}

func paddedTo20(n int64) string {
	text := decimal(n)
	return strings.Repeat("0", 20-len(text)) + text
}
