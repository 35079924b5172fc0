package system_test

import (
	"regexp"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/internal/system"
)

var version7 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestIDsAreVersion7AndGrow(t *testing.T) {
	var ids system.IDs
	last := ""
	for range 10_000 {
		id := ids.NewID()
		if !version7.MatchString(id) {
			t.Fatalf("%q is not a UUID of version 7", id)
		}
		if id <= last {
			t.Fatalf("%q does not come after %q", id, last)
		}
		last = id
	}
}

func TestIDsDifferBetweenGoroutines(t *testing.T) {
	var ids system.IDs
	var seen sync.Map
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for range 1_000 {
				if _, twice := seen.LoadOrStore(ids.NewID(), true); twice {
					t.Error("an id was returned twice")
				}
			}
		})
	}
	workers.Wait()
}
