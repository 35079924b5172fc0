package objectstore

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxKey is the maximum length of a key, in bytes. S3, Google Cloud Storage and Azure all accept keys of this length.
const maxKey = 1024

// place selects the objects that a call exports or erases: one object, or all objects below a prefix.
type place struct {
	name     string // the key of the object, or the prefix with its slash
	isPrefix bool
}

// placeOfRef returns the place that a ref selects, and reports whether the ref is valid. A ref with a slash at its end
// is a prefix.
func placeOfRef(ref string) (place, bool) {
	name, isPrefix := strings.CutSuffix(ref, "/")
	return place{ref, isPrefix}, len(ref) <= maxKey && isValidKey(name)
}

// placeOfKey returns the place that a key selects, and reports whether the key is valid. A key never selects more than
// one object, because a user may have written the value of its column.
func placeOfKey(key string) (place, bool) { return place{name: key}, isValidKey(key) }

// isValidKey reports whether a text is a valid key of one object. A store or a file system could resolve some texts to
// another object. isValidKey therefore refuses empty segments, "." and "..", backslashes and control characters. An
// empty key would even select the complete bucket. A key with a slash at its end would select every object below it.
func isValidKey(key string) bool {
	if len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsRune(key, '\\') ||
		strings.ContainsFunc(key, unicode.IsControl) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(key, "/"), func(segment string) bool {
		return segment == "" || segment == "." || segment == ".."
	})
}
