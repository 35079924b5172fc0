//go:build race

package lives

// slowness divides the number of games on databases. SQLite is translated from C, and forty times as slow with the race
// detector.
const slowness = 5
