package names

import "sync"

// A draft of a large schema asks about each name thousands of times. These maps have the answers about all names that
// the process has asked about.
var splits, folds, ends sync.Map

// remember returns the answer in the map, or computes it and keeps it there. It is safe for concurrent use.
func remember[K comparable, V any](known *sync.Map, about K, compute func() V) V {
	if answer, ok := known.Load(about); ok {
		v, _ := answer.(V)
		return v
	}
	v := compute()
	known.Store(about, v)
	return v
}
