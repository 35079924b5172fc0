package words

import (
	"slices"
	"strings"
)

// Words that contain one of secretParts or end with one of secretEnds mean a secret. Words that end with one of
// vagueEnds also name other things, such as a foreign key.
var (
	secretParts = []string{"password", "secret", "token", "recovery"}
	secretEnds  = []string{"otp", "otps"}
	vagueEnds   = []string{"hash", "hashes", "key", "keys"}
)

// ofRecoveries are words after recovery with which a name means what is known about a recovery, such as that of a lost
// thing. Any other word may mean a secret, as in recovery_codes and in the recovery_share of a wallet.
var ofRecoveries = []string{"tweet", "story", "display", "displays", "status", "reason"}

// IsSecret reports whether the name of a column sounds like a secret.
func IsSecret(name string) bool {
	words := Lower(name)
	for i, word := range words {
		isOpen := word == "recovery" && i+2 == len(words) && slices.Contains(ofRecoveries, words[i+1])
		if !isOpen && (MeansSecret(word) || MayMeanSecret(word)) {
			return true
		}
	}
	return false
}

// MeansSecret reports whether a word in lower case means a secret, such as password.
func MeansSecret(word string) bool {
	return slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(word, part) }) ||
		endsIn(word, secretEnds)
}

// MayMeanSecret reports whether a word in lower case means a secret, or another thing, such as key.
func MayMeanSecret(word string) bool { return endsIn(word, vagueEnds) }

func endsIn(word string, endings []string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(word, ending) })
}
