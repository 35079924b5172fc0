package names

import "slices"

// IsTechnical reports whether the name of a text column shows that no person writes into it, such as currency.
func IsTechnical(column string) bool {
	parts := partsOf(column)
	_, isReference := Stem(column)
	return isReference || Describes(column) || len(parts) > 0 && slices.Contains(ofMachines, parts[len(parts)-1])
}

// ofMachines are the last words of the names of text columns into which no person writes.
var ofMachines = []string{
	"currency", "code", "number", "hash", "checksum", "sha", "etag", "mime", "encoding", "extension", "icon", "theme",
	"slug", "locale", "language", "lang", "timezone", "tz", "unit", "algorithm", "scheme", "key",
	"uid", "uuid", "guid", "func", "function", "algo", "alg",
}
