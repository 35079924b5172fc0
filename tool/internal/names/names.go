// Package names recognises personal data by the names of tables and columns. Each result is a guess with a reason,
// which a person has to confirm. The lists of words are in words.go, tablewords.go and rolewords.go.
package names

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
)

// Match is the guess about a column, derived from its name.
type Match struct {
	Category domain.Category
	Secret   bool     // an export must not show the value
	Word     string   // the part of the name that was recognised
	Behind   []string // the words after Word; not set for a secret
	Means    string   // the meaning of the word, for example "a postal address"
	Part     bool     // the name means a person by her part in the row, who may be another one than its owner
}

// Reason returns the reason for the guess as a clause without a full stop.
func (m Match) Reason() string {
	return `its name contains "` + m.Word + `", which suggests ` + m.Means
}

// Find returns the guess about a column. It uses the names of the column and the table, and the type of the column,
// which may be empty. It returns false if the column does not look personal.
func Find(table, column string, t datamap.ColumnType) (Match, bool) {
	parts := partsOf(column)
	if MayBeInstant(column, t) {
		t = datamap.TypeTime
	}
	if m, ok := findSecret(table, parts, t); ok {
		return m, true
	}
	for _, r := range columnRules {
		if !r.fits(t) || !r.isIn(table) || r.means == ofProvider && isOwnKey(table, column) {
			continue
		}
		for _, p := range r.patterns {
			from, to, ok := p.find(parts)
			isSmall := t == datamap.TypeInteger || t == datamap.TypeSmallInt
			if ok && isSmall && r.means == ofPayment && slices.Contains(parts, "card") {
				continue // the number of a payment card has more digits
			}
			if ok && !isAside(parts, from, to, t) && !isOfSession(parts, from) && !isOfThing(table, parts[from:to], t) {
				return Match{
					Category: r.category, Word: strings.Join(parts[from:to], " "), Behind: parts[to:], Means: r.means,
				}, true
			}
		}
	}
	return findPerson(table, parts, t)
}

// MayBeInstant reports whether a column whose type is a text or a number is named like an instant or a date, such as
// last_login_at and last_seen.
func MayBeInstant(column string, t datamap.ColumnType) bool {
	switch t { //nolint:exhaustive // the others hold no instants
	case datamap.TypeText, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber:
		parts := partsOf(column)
		return len(parts) > 1 && slices.Contains(ofInstants, parts[len(parts)-1]) || isJoined(parts) ||
			len(parts) > 1 && parts[0] == "last" && slices.Contains(ofLast, strings.Join(parts[1:], ""))
	}
	return false
}

// isJoined reports whether the last word joins another word and date or time, such as creationdate.
func isJoined(parts []string) bool {
	if len(parts) == 0 || slices.Contains(noInstants, parts[len(parts)-1]) {
		return false
	}
	before, ok := strings.CutSuffix(parts[len(parts)-1], "date")
	if !ok {
		before, ok = strings.CutSuffix(parts[len(parts)-1], "time")
	}
	return ok && len(before) > 1
}

// IsIdentity reports whether the name of a column that holds a secret means a text in which an identity provider tells
// about a person.
func IsIdentity(column string) bool {
	return slices.ContainsFunc(identities, func(p pattern) bool {
		_, _, ok := p.find(partsOf(column))
		return ok
	})
}

var identities = patterns("jwt, id token")

// isOwnKey reports whether the name of a column means the key of its own table, such as customer_id in customers.
func isOwnKey(table, column string) bool {
	stem, isReference := Stem(column)
	return isReference && Same(stem, BaseName(table))
}

// isOfSession reports whether parts[from] is the word state for the progress of a session and not for a part of an
// address, as in session_state.
func isOfSession(parts []string, from int) bool {
	return parts[from] == "state" && endsIn(strings.Join(parts[:from], " "), tableWords[Sessions])
}

// IsStatus reports whether the last word of the name of a column is state, and the word before it shows that it is no
// part of an address, as in subscription_state.
func IsStatus(column string) bool {
	parts := partsOf(column)
	n := len(parts)
	return n > 1 && parts[n-1] == "state" && !slices.Contains(ofAddress, parts[n-2])
}

// ofAddress are words before state that show that it is a part of an address.
var ofAddress = strings.Fields(`
	home billing shipping mailing mail postal delivery address addr residence residential birth work business company
	employer current permanent us tax legal license contact pickup invoice customer user person origin bill ship
	guardian`)

// isOfThing reports whether words that mean the instant of the last activity of a person mean that of a thing, on which
// many people may act: the last activity of a thread is its last post.
func isOfThing(table string, word []string, t datamap.ColumnType) bool {
	isActivity := t == datamap.TypeTime && len(word) > 1 && word[0] == "last" && strings.HasPrefix(word[1], "activ")
	return isActivity && (Is(table, Messages) || Is(table, Things)) && !IsPeople(table)
}

// isAside reports whether the last word of a name shows that the column only describes personal data and does not hold
// the data, or that it means something else. Examples are email_verified, phone_type and sub_total. The words
// parts[from:to] are those that were recognised as personal.
func isAside(parts []string, from, to int, t datamap.ColumnType) bool {
	last := parts[len(parts)-1]
	switch {
	case strings.HasSuffix(last, "hex"): // a key, such as commenthex
		return true
	case to == len(parts):
		return false
	}
	isArchive := parts[from] == "zip" && to == from+1 && slices.Contains(ofArchives, parts[to])
	return isArchive || slices.Contains(asideWords, last) || slices.Contains(onlyLast, parts[to-1]) ||
		from == 0 && t == datamap.TypeText && slices.Contains(asideOfText, last)
}

// findSecret recognises passwords, tokens, keys and similar secrets.
func findSecret(table string, parts []string, t datamap.ColumnType) (Match, bool) {
	switch t { //nolint:exhaustive // the others may hold a secret
	case datamap.TypeBoolean, datamap.TypeTime, datamap.TypeNumber:
		return Match{}, false
	}
	m := Match{Category: domain.CategoryTechnical, Secret: true, Word: strings.Join(parts, " "), Means: "a secret"}
	isHint := slices.ContainsFunc(hints, func(p pattern) bool {
		_, to, ok := p.find(parts)
		return ok && to == len(parts)
	})
	if len(parts) == 0 || !isHint && (slices.Contains(asideOfSecret, parts[len(parts)-1]) ||
		slices.Contains(asideOfSecret, Singular(parts[len(parts)-1]))) {
		return Match{}, false
	}
	for _, p := range openPatterns {
		if _, _, ok := p.find(parts); ok {
			return Match{}, false
		}
	}
	isOfFactor := t == datamap.TypeJSON && slices.Equal(parts, ofFactor)
	if len(parts) == 1 && isListOfSecrets(table, parts[0]) || IsPeople(table) && (isOfFactor || endsWith(parts, digests)) {
		return m, true
	}
	if t == datamap.TypeSmallInt || t == datamap.TypeInteger || t == datamap.TypeBigInt {
		return Match{}, false
	}
	if i := slices.IndexFunc(parts, words.MeansSecret); i >= 0 {
		m.Word = parts[i]
		return m, true
	}
	for _, p := range secrets {
		if from, to, ok := p.find(parts); ok {
			m.Word = strings.Join(parts[from:to], " ")
			return m, true
		}
	}
	i := slices.IndexFunc(parts, words.MayMeanSecret)
	if i < 0 || !IsPeople(table) && !Is(table, Sessions) && !words.IsSecret(table) {
		return Match{}, false
	}
	m.Word = parts[i]
	return m, true
}

// ofFactor is the name of a column whose JSON holds the secrets of a second factor. Another type holds its kind.
var ofFactor = []string{"tfa"}

// digests match the names of columns of people that hold the hash of a secret, or a secret. In other tables, such as
// tickets, such a code is that of a thing.
var digests = patterns("activation digest, remember digest, reset digest, validation code")

// isListOfSecrets reports whether each row of a table is a secret in the column of the given name, as the code in
// user_backup_codes is.
func isListOfSecrets(table, column string) bool {
	parts := slices.Clone(partsOf(table))
	if len(parts) < 2 {
		return false
	}
	last := len(parts) - 1
	parts[last] = Singular(parts[last])
	isValue := column == "code" || column == "key"
	return isValue && parts[last] == column && slices.ContainsFunc(secrets, func(p pattern) bool {
		return len(p) > 1 && endsWith(parts, []pattern{p})
	})
}

// fits reports whether a column of the given type can hold the personal data that the rule recognises. It returns true
// if the type is empty.
func (r columnRule) fits(t datamap.ColumnType) bool {
	switch t { //nolint:exhaustive // the others are kinds of text
	case datamap.TypeTime:
		return r.holds&times != 0
	case datamap.TypeBoolean:
		return r.holds&booleans != 0
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber:
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

// pattern is a sequence of words. A word such as *key matches each word that ends with key. A word such as pass*
// matches each word that begins with pass.
type pattern []string

// find returns the range of parts that the pattern matches. The parts are the words of a name. A pattern of several
// words also matches one part that joins them. For example, the pattern "private key" matches privatekey.
func (p pattern) find(parts []string) (from, to int, ok bool) {
	for from = range parts {
		for _, to := range []int{from + 1, from + len(p)} {
			if to <= len(parts) && p.matches(parts[from:to]) {
				return from, to, true
			}
		}
	}
	return 0, 0, false
}

// ends reports whether the pattern matches the last of the parts.
func (p pattern) ends(parts []string) bool {
	n := len(parts)
	return n > 0 && p.matches(parts[n-1:]) || n >= len(p) && p.matches(parts[n-len(p):])
}

// matches reports whether the pattern matches all of the parts.
func (p pattern) matches(parts []string) bool {
	if len(parts) == 1 && len(p) > 1 {
		return matchesWord(parts[0], strings.Join(p, ""))
	}
	return slices.EqualFunc(parts, p, matchesWord)
}

func matchesWord(part, word string) bool {
	if ending, ok := strings.CutPrefix(word, "*"); ok {
		return strings.HasSuffix(part, ending) || strings.HasSuffix(part, ending+"s")
	}
	if beginning, ok := strings.CutSuffix(word, "*"); ok {
		return strings.HasPrefix(part, beginning)
	}
	ending, ok := strings.CutPrefix(part, word)
	return ok && (ending == "" || ending == "s" || ending == "es")
}

func patterns(list string) []pattern {
	var read []pattern
	for text := range strings.SplitSeq(list, ",") {
		if p := strings.Fields(text); len(p) > 0 {
			read = append(read, p)
		}
	}
	return read
}

// plain replaces accented letters, so that a name matches with and without accents. For example, prénom becomes prenom,
// and straße becomes strasse.
var plain = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "à", "a", "á", "a", "â", "a", "ç", "c",
	"è", "e", "é", "e", "ê", "e", "ë", "e", "í", "i", "î", "i", "ñ", "n", "ó", "o", "ô", "o", "ú", "u", "û", "u")

// Words splits a name into words in lower case, and replaces accented letters. It remembers the words of each name. The
// caller must not change the result.
func Words(name string) []string { return partsOf(name) }

func partsOf(name string) []string {
	return remember(&splits, name, func() []string {
		parts := words.Lower(name)
		for i, part := range parts {
			parts[i] = plain.Replace(part)
		}
		return parts
	})
}
