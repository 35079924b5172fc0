package names

import "strings"

// Singular returns the singular of an English plural. It recognizes plurals by common endings and returns other words
// unchanged.
func Singular(word string) string {
	lower := strings.ToLower(word)
	for _, plural := range []struct{ ending, singular string }{
		{"people", "person"},
		{"children", "child"},
		{"statuses", "status"},
		{"aliases", "alias"},
		{"addresses", "address"},
		{"status", "status"},
		{"news", "news"},
		{"series", "series"},
		{"ss", "ss"},
		{"us", "us"},
		{"is", "is"},
		{"ies", "y"},
		{"sses", "ss"},
		{"xes", "x"},
		{"ches", "ch"},
		{"shes", "sh"},
		{"s", ""},
	} {
		if strings.HasSuffix(lower, plural.ending) {
			if singular := word[:len(word)-len(plural.ending)] + plural.singular; singular != "" {
				return singular
			}
		}
	}
	return word
}
