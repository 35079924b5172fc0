package system

import "math/rand/v2"

// Jitter returns a random number in [0, 1). The number spreads retries over time. Jitter is safe for concurrent use.
func Jitter() float64 { return rand.Float64() } //nolint:gosec // need not be unpredictable
