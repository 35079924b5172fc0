package isolation

import (
	"errors"
	"math/bits"

	"pgregory.net/rapid"
)

// uniform returns a random number from 0 to n-1. All numbers have the same probability. In contrast, the ranges of
// package rapid prefer small numbers.
func uniform(t *rapid.T, what string, n int) int {
	return rapid.Custom(func(t *rapid.T) int {
		number := 0
		for range bits.Len(uint(n-1)) + 3 {
			number <<= 1
			if rapid.Bool().Draw(t, "bit") {
				number++
			}
		}
		return number % n
	}).Draw(t, what)
}

func between(t *rapid.T, what string, least, most int) int {
	return least + uniform(t, what, most-least+1)
}

// pick returns one of the options at random. If a test fails, rapid searches for a simpler failing example. In this
// search, rapid prefers the first option.
func pick[E any](t *rapid.T, what string, options ...E) E {
	return options[uniform(t, what, len(options))]
}

// oneIn returns true with the probability 1/n.
func oneIn(t *rapid.T, what string, n int) bool { return uniform(t, what, n) == n-1 }

// shuffled returns the elements in a random order.
func shuffled[E any](t *rapid.T, what string, elements []E) []E {
	return rapid.Permutation(elements).Draw(t, what)
}

// must ends the check with a failure if err is not nil. It also prints the causes that errors of habeas omit from their
// text to protect personal data. Generated values are not personal data.
func must(t *rapid.T, err error) {
	if err == nil {
		return
	}
	text := err.Error()
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
		text += ": " + cause.Error()
	}
	t.Fatal(text)
}
