package system

import "math/rand/v2"

// Jitter returns a random number in [0, 1), which spreads retries over time. It is safe for concurrent use.
func Jitter() float64 { return rand.Float64() } //nolint:gosec // need not be unpredictable
