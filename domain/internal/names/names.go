// Package names recognises personal data by the names of tables and columns. What it recognises is a guess, with a
// reason, that a person has to confirm. Its words are tables of data: words.go, tablewords.go and rolewords.go.
package names

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Match is what the name of a column says about its values.
type Match struct {
	Category domain.Category
	Secret   bool     // an export must not show the value
	Word     string   // the part of the name that was recognised
	Behind   []string // the words behind it; not known of a secret
	Means    string   // the meaning of the word: "a postal address", say
}

// Reason is the reason for the guess, in one sentence without a full stop.
func (m Match) Reason() string {
	return `its name has "` + m.Word + `", which stands for ` + m.Means
}

// Guess returns the category of the personal data that a column seems to hold, by its name, its table's name and its
// type, and the reason in one sentence. The type may be empty if it is not known. Returns false if the names say
// nothing of that kind.
func Guess(table, column string, t domain.ColumnType) (category domain.Category, reason string, ok bool) {
	m, ok := Find(table, column, t)
	if !ok {
		return "", "", false
	}
	return m.Category, m.Reason(), true
}

// Find is Guess with all that is known about the guess.
func Find(table, column string, t domain.ColumnType) (Match, bool) {
	parts := partsOf(column)
	if m, ok := findSecret(table, parts, t); ok {
		return m, true
	}
	for _, r := range columnRules {
		if !r.fits(t) || !r.isIn(table) {
			continue
		}
		for _, p := range r.patterns {
			from, to, ok := p.find(parts)
			if ok && !isAside(parts, from, to, t) {
				return Match{
					Category: r.category, Word: strings.Join(parts[from:to], " "), Behind: parts[to:], Means: r.means,
				}, true
			}
		}
	}
	return Match{}, false
}

// isAside reports whether the last word of a name says that the column is about the thing that was recognised, and does
// not hold it: email_verified, phone_type.
func isAside(parts []string, from, to int, t domain.ColumnType) bool {
	if to == len(parts) {
		return false
	}
	last := parts[len(parts)-1]
	return slices.Contains(asideWords, last) || from == 0 && t == domain.TypeText && slices.Contains(asideOfText, last)
}

// findSecret recognises passwords, tokens, keys and the like.
func findSecret(table string, parts []string, t domain.ColumnType) (Match, bool) {
	switch t { //nolint:exhaustive // the others may hold a secret
	case domain.TypeBoolean, domain.TypeTime, domain.TypeNumber:
		return Match{}, false
	}
	m := Match{Category: domain.CategoryTechnical, Secret: true, Word: strings.Join(parts, " "), Means: "a secret"}
	if len(parts) == 0 || slices.Contains(asideOfSecret, parts[len(parts)-1]) {
		return Match{}, false
	}
	for _, p := range openPatterns {
		if _, _, ok := p.find(parts); ok {
			return Match{}, false
		}
	}
	if t == domain.TypeSmallInt || t == domain.TypeInteger || t == domain.TypeBigInt {
		return Match{}, false
	}
	patterns := sureSecrets
	if IsPeople(table) || Is(table, Sessions) || domain.SoundsSecret(table) {
		patterns = slices.Concat(sureSecrets, vagueSecrets)
	}
	for _, p := range patterns {
		if from, to, ok := p.find(parts); ok {
			m.Word = strings.Join(parts[from:to], " ")
			return m, true
		}
	}
	return Match{}, false
}

// fits reports whether a column of the type may hold values of the rule. A type that is not known fits.
func (r columnRule) fits(t domain.ColumnType) bool {
	switch t { //nolint:exhaustive // the others are kinds of text
	case domain.TypeTime:
		return r.holds&times != 0
	case domain.TypeBoolean:
		return r.holds&booleans != 0
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt, domain.TypeNumber:
		return r.holds&numbers != 0
	case "":
		return true
	default:
		return r.holds&texts != 0
	}
}

func (r columnRule) isIn(table string) bool {
	return len(r.in) == 0 || slices.ContainsFunc(r.in, func(k Kind) bool { return Is(table, k) })
}

// pattern is a sequence of words. A word that begins with * matches the end of a word of the name, and one that ends
// with * its beginning.
type pattern []string

// find returns the words of the name that the pattern matches: one after the other, or written as one word.
func (p pattern) find(parts []string) (from, to int, ok bool) {
	for from = range parts {
		if matchesWord(parts[from], strings.Join(p, "")) {
			return from, from + 1, true
		}
		to = from + len(p)
		if to <= len(parts) && slices.EqualFunc(parts[from:to], p, matchesWord) {
			return from, to, true
		}
	}
	return 0, 0, false
}

func matchesWord(part, word string) bool {
	if ending, ok := strings.CutPrefix(word, "*"); ok {
		return strings.HasSuffix(part, ending) || strings.HasSuffix(part, ending+"s")
	}
	if beginning, ok := strings.CutSuffix(word, "*"); ok {
		return strings.HasPrefix(part, beginning)
	}
	return part == word || part == word+"s" || part == word+"es"
}

// patterns reads patterns that are separated by commas.
func patterns(list string) []pattern {
	var read []pattern
	for text := range strings.SplitSeq(list, ",") {
		read = append(read, strings.Fields(text))
	}
	return read
}

// Letters without accents, so that names in other languages are found in either spelling.
var plain = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "à", "a", "á", "a", "â", "a", "ç", "c",
	"è", "e", "é", "e", "ê", "e", "ë", "e", "í", "i", "î", "i", "ñ", "n", "ó", "o", "ô", "o", "ú", "u", "û", "u")

// partsOf are the words of a name, without accents.
func partsOf(name string) []string {
	parts := domain.NameWords(name)
	for i, part := range parts {
		parts[i] = plain.Replace(part)
	}
	return parts
}
