// Package words splits names of tables and columns into words, and recognizes secrets.
package words

import (
	"strings"
	"unicode"
)

// Split splits a name into words. Each character that is neither a letter nor a digit separates words. A word also
// begins in camel case. For example, "userID" becomes "user" and "ID", and "APIKey" becomes "API" and "Key".
func Split(name string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words, word = append(words, string(word)), nil
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && len(word) > 0 && !unicode.IsUpper(word[len(word)-1]): // the k of apiKey
			end()
		case unicode.IsUpper(r) && i+1 < len(runes) && unicode.IsLower(runes[i+1]): // the K of APIKey
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}

// Lower splits a name like Split, and returns the words in lower case. A digit separates words, too. For example, both
// api_key2 and apiKey give "api" and "key".
func Lower(name string) []string {
	var words []string
	for _, word := range Split(name) {
		words = append(words, strings.FieldsFunc(strings.ToLower(word), unicode.IsDigit)...)
	}
	return words
}
