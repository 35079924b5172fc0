package isolation

import (
	"errors"
	"math/bits"

	"pgregory.net/rapid"
)

// even draws a number from 0 to n-1. All numbers have the same probability. In contrast, the ranges of package rapid
// prefer small numbers.
func even(t *rapid.T, what string, n int) int {
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

// between draws a number in the range from least to most.
func between(t *rapid.T, what string, least, most int) int {
	return least + even(t, what, most-least+1)
}

// pick draws one of the options. If a test fails, rapid searches a simpler example and prefers the first option.
func pick[E any](t *rapid.T, what string, options ...E) E {
	return options[even(t, what, len(options))]
}

// oneIn draws true with the probability 1/n.
func oneIn(t *rapid.T, what string, n int) bool { return even(t, what, n) == n-1 }

// shuffled draws an order.
func shuffled[E any](t *rapid.T, what string, elements []E) []E {
	return rapid.Permutation(elements).Draw(t, what)
}

// must fails if err is not nil. It also shows the hidden causes of errors of habeas, because generated values are not
// personal data.
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
