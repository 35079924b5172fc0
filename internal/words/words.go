// Package words splits names of tables and columns into words, and converts plurals into singulars.
package words

import (
	"strings"
	"unicode"
)

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

// Split splits a name into words. Each character that is neither a letter nor a digit separates words. A capital letter
// also begins a word, except after another capital letter. For example, "userID" becomes "user" and "ID".
func Split(name string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words, word = append(words, string(word)), nil
		}
	}
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && len(word) > 0 && !unicode.IsUpper(word[len(word)-1]):
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}
