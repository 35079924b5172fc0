package system

import (
	"crypto/hmac"
	"crypto/sha256"
)

// Signer returns the function that computes the HMAC (RFC 2104) of a text with a key and SHA-256. It returns nil if the
// key is empty.
func Signer(key []byte) func(text []byte) []byte {
	if len(key) == 0 {
		return nil
	}
	return func(text []byte) []byte {
		hash := hmac.New(sha256.New, key)
		hash.Write(text) // returns no error
		return hash.Sum(nil)
	}
}
