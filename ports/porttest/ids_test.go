package porttest

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/habeas-data/habeas/ports"
)

type idFunc func() string

func (f idFunc) NewID() string { return f() }

// counting returns sources that share a counter and write its value down.
func counting(write func(n int64) string) func() ports.IDSource {
	var n atomic.Int64
	return func() ports.IDSource { return idFunc(func() string { return write(n.Add(1)) }) }
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func TestASourceOfIDsThatKeepsItsPromisesPasses(t *testing.T) { TestIDSource(t, counting(decimal)) }

func TestSourcesOfIDsThatBreakAPromiseFail(t *testing.T) {
	for name, test := range map[string]struct {
		source func() ports.IDSource
		found  map[string]string
	}{
		"no id":         {counting(func(int64) string { return "" }), nothingButTheSame("is not 1 to 255 characters")},
		"an id of 256":  {counting(func(n int64) string { return strings.Repeat("x", 236) + fixed(n) }), stored},
		"half a letter": {counting(func(n int64) string { return decimal(n) + "\xc3" }), stored},
		"NUL":           {counting(func(n int64) string { return decimal(n) + "\x00" }), stored},
		"an id that comes back": {
			counting(func(n int64) string { return decimal(n % (ids - 1)) }),
			map[string]string{
				"id is never repeated": "1 are repeated", "id is not another source's": "1 are repeated",
				"id can be made at once": "1 are repeated",
			},
		},
		"a counter for each source": {
			func() ports.IDSource { return counting(decimal)() },
			map[string]string{"id is not another source's": "are repeated"},
		},
		"a counter that is not safe": {
			func() func() ports.IDSource {
				var mu sync.Mutex // against the race detector; two callers get the same id all the same
				var n int64
				return func() ports.IDSource {
					return idFunc(func() string {
						mu.Lock()
						next := n + 1
						mu.Unlock()
						runtime.Gosched() // as a race would have it
						mu.Lock()
						n = next
						mu.Unlock()
						return decimal(next)
					})
				}
			}(),
			map[string]string{"id can be made at once": "are repeated"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectFailures(t, idCases, test.source, test.found)
		})
	}
}

var stored = map[string]string{"id can be stored": "is not 1 to 255 characters"}

// nothingButTheSame is what finds a source that always returns the same id.
func nothingButTheSame(stored string) map[string]string {
	const repeated = "are repeated"
	return map[string]string{
		"id can be stored": stored, "id is never repeated": repeated,
		"id is not another source's": repeated, "id can be made at once": repeated,
	}
}

// fixed is a number of 20 digits.
func fixed(n int64) string {
	text := decimal(n)
	return strings.Repeat("0", 20-len(text)) + text
}
