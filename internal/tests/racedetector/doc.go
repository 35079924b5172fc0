// Package racedetector tells tests whether they run with the race detector, which makes a program several times slower.
package racedetector
