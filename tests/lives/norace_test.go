//go:build !race

package lives

// slowness divides the number of games on databases.
const slowness = 1
