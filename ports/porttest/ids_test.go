package porttest

import (
	"runtime"
	"strconv"
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

func TestASourceOfIDsThatIsNotSafeIsFoundOut(t *testing.T) {
	var mu sync.Mutex // avoids the report of the race detector, but two callers still get the same id
	var n int64
	source := idFunc(func() string {
		mu.Lock()
		next := n + 1
		mu.Unlock()
		runtime.Gosched() // simulates a race
		mu.Lock()
		n = next
		mu.Unlock()
		return decimal(next)
	})
	type found = promise.Finds[func() ports.IDSource]
	promise.ExpectDefects(t, idPromises, func(source ports.IDSource) (func() ports.IDSource, found) {
		return func() ports.IDSource { return source }, found{"are repeated": {idSourceIsSafeForConcurrentUse}}
	}, map[string]ports.IDSource{"a counter that is not safe": source})
}
