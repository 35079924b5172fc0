package system

import "math/rand/v2"

// Jitter returns a random number from 0 up to 1, which spreads what would come together. It is safe for concurrent use.
func Jitter() float64 { return rand.Float64() } //nolint:gosec // spreads retries; nothing depends on it being secret
