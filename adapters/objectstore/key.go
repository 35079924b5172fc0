package objectstore

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxKey is the longest key that S3, Google Cloud Storage and Azure all accept, in bytes.
const maxKey = 1024

// place is what a call is about: one object, or all objects below a prefix.
type place struct {
	name     string // the object's key, or the prefix with its slash
	isPrefix bool
}

// placeOfRef returns the place that a ref of the subject provider names, and whether it is valid. A slash at its end
// makes it a prefix.
func placeOfRef(ref string) (place, bool) {
	name, isPrefix := strings.CutSuffix(ref, "/")
	return place{ref, isPrefix}, len(ref) <= maxKey && isValidKey(name)
}

// placeOfKey returns the place that a key names, and whether it is valid. It is never a prefix: users may have written
// the column that it comes from.
func placeOfKey(key string) (place, bool) { return place{name: key}, isValidKey(key) }

// isValidKey reports whether a text is the key of one object. A store or a file system could take other texts for
// another place: "..", "." and empty segments, backslashes and control characters. An empty key would be the whole
// bucket, and one with a slash at its end everything below it.
func isValidKey(key string) bool {
	if len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsRune(key, '\\') ||
		strings.ContainsFunc(key, unicode.IsControl) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(key, "/"), func(segment string) bool {
		return segment == "" || segment == "." || segment == ".."
	})
}
