package objectstore

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxKey is the longest key that S3, Google Cloud Storage and Azure all accept, in bytes.
const maxKey = 1024

// isValidRef reports whether a ref is a key, or a prefix with a slash at its end. What a store or a file system could
// take for another place is refused: "..", "." and empty segments, backslashes and control characters. An empty ref
// would be the whole bucket.
func isValidRef(ref string) bool {
	if len(ref) > maxKey || !utf8.ValidString(ref) || strings.ContainsRune(ref, '\\') ||
		strings.ContainsFunc(ref, unicode.IsControl) {
		return false
	}
	segments := strings.Split(strings.TrimSuffix(ref, "/"), "/")
	return !slices.ContainsFunc(segments, func(segment string) bool {
		return segment == "" || segment == "." || segment == ".."
	})
}

func isPrefix(ref string) bool { return strings.HasSuffix(ref, "/") }
