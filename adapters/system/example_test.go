package system_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/system"
)

// Ids sort in the order in which they were made, also within a millisecond.
func ExampleIDs() {
	var source system.IDs
	ids := []string{source.NewID(), source.NewID(), source.NewID()}
	fmt.Println("characters:", len(ids[0]), "in order:", slices.IsSorted(ids))
	// Output: characters: 36 in order: true
}

func ExampleClock() {
	clock := system.Clock{}
	fmt.Println("off by less than a minute:", time.Since(clock.Now()).Abs() < time.Minute)
	// Output: off by less than a minute: true
}
