package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// enoughDigits is the number of random digits with which two surrogates differ in practice.
const enoughDigits = 8

// coversPart reports whether a unique index covers only a part of a text, such as its first character or the domain of
// an email address, so that two surrogates with different digits may have the same part. It returns false if the index
// also covers the whole text, in any spelling, and for a function that it does not know.
func (c written) coversPart(unique datamap.CatalogUnique) bool {
	covers := false
	for _, key := range keysOf(unique) {
		if !c.isIn(key) {
			continue
		}
		if !c.isPart(key) {
			return false
		}
		covers = true
	}
	return covers
}

func (c written) isIn(text sqltext.Tokens) bool {
	return slices.ContainsFunc(text, func(t sqltext.Token) bool {
		return t.Kind != sqltext.TokenSign && t.Kind != sqltext.TokenString && strings.EqualFold(t.Text, c.live.Name)
	})
}

// isPart reports whether an expression calls a function that returns a part of the column, too short to tell two
// surrogates apart.
func (c written) isPart(expression sqltext.Tokens) bool {
	for i := range expression {
		if !expression.IsName(i) || !expression.IsSign(i+1, "(") ||
			!slices.Contains(takingParts, strings.ToLower(expression[i].Text)) {
			continue
		}
		arguments := entriesIn(expression, i+1)
		if len(arguments) > 0 && c.isIn(slices.Concat(arguments...)) && !c.isLongBegin(expression[i].Text, arguments) {
			return true
		}
	}
	return false
}

// isLongBegin reports whether a call returns the begin of the column, with enough digits of the surrogate.
func (c written) isLongBegin(function string, arguments []sqltext.Tokens) bool {
	isLeft := strings.EqualFold(function, "left") && len(arguments) == 2
	isBegin := strings.HasPrefix(strings.ToLower(function), "substr") && len(arguments) == 3 &&
		len(arguments[1]) == 1 && arguments[1][0].Text == "1"
	if !isLeft && !isBegin {
		return false
	}
	last := arguments[len(arguments)-1]
	length, err := strconv.Atoi(last[len(last)-1].Text)
	a, okA := c.example(0).(string)
	b, okB := c.example(1).(string)
	if len(last) != 1 || err != nil || !okA || !okB {
		return false
	}
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return length >= same+enoughDigits
}

// entriesIn returns the entries of a list in brackets, which begins at the given opening bracket.
func entriesIn(text sqltext.Tokens, bracket int) (entries []sqltext.Tokens) {
	end, from := min(text.ClosingBracket(bracket), len(text)), bracket+1
	for i := from; i <= end; i++ {
		switch {
		case i == end || text.IsSign(i, ","):
			if i > from {
				entries = append(entries, text[from:i])
			}
			from = i + 1
		case text.IsSign(i, "("):
			i = min(text.ClosingBracket(i), end-1)
		}
	}
	return entries
}

// takingParts are functions of PostgreSQL and SQLite that return a part or a property of a text.
var takingParts = terms(`
	split_part, left, right, substr, substring, regexp_replace, regexp_substr, regexp_match, regexp_matches, length,
	char_length, character_length, octet_length, ascii, unicode, strpos, position, instr, soundex, metaphone, dmetaphone,
	starts_with`)
