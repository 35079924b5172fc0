package domain

import (
	"fmt"
	"unique"
)

// PrivateValue is a value of a subject's row for the eyes of an operator at a terminal. It hides itself from each
// encoding, each log and each format, so that no result, log or HTTP body can hold it.
//
// Equal values are equal by ==.
type PrivateValue struct {
	// Package fmt calls no method of a value in an unexported field. Of a handle, it prints the address.
	text unique.Handle[string]
	null bool
}

const hidden = "(hidden)"

// NewPrivateValue returns a value by its text.
func NewPrivateValue(text string) PrivateValue { return PrivateValue{text: unique.Make(text)} }

// NullValue returns the value NULL.
func NullValue() PrivateValue { return PrivateValue{text: unique.Make(""), null: true} }

// Reveal returns the text of the value, and whether it is NULL. Only stores and the code that writes to a terminal call
// Reveal.
func (v PrivateValue) Reveal() (text string, null bool) {
	if v == (PrivateValue{}) {
		return "", false
	}
	return v.text.Value(), v.null
}

// String hides the value.
func (PrivateValue) String() string { return hidden }

// Format hides the value from each verb of package fmt.
func (PrivateValue) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText hides the value from JSON, from logs and from other encodings.
func (PrivateValue) MarshalText() ([]byte, error) { return []byte(hidden), nil }
