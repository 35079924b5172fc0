//go:build race

package racedetector

// Enabled is true if the program runs with the race detector.
const Enabled = true
