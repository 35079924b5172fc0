// Package condition decides whether a row satisfies the condition of a CHECK constraint, if the values of only some
// columns are known. It parses the SQL of such conditions on PostgreSQL and on SQLite. If the result is not certain,
// the outcome is Undecided.
package condition

import "strings"

// Outcome is the result of a condition for a row: Holds, Fails or Undecided.
type Outcome int

// The outcomes. A condition that evaluates to NULL holds, as in a CHECK constraint.
const (
	Undecided Outcome = iota
	Holds
	Fails
)

// Decide evaluates an SQL condition, which may start with the word CHECK. It calls the given function to get the value
// of a column by name.
func Decide(text string, column func(name string) Value) Outcome {
	r := &reader{tokens: tokensOf(text), column: column}
	r.word("check")
	value := r.disjunction()
	for r.word("no", "inherit", "not", "valid", "enforced") {
		continue
	}
	if r.failed || r.at < len(r.tokens) {
		return Undecided
	}
	switch truth := value.truth(); truth.kind { //nolint:exhaustive // the others are undecided
	case null:
		return Holds
	case boolean:
		if truth.is {
			return Holds
		}
		return Fails
	default:
		return Undecided
	}
}

// Names returns the unquoted words and the quoted names of a condition. Some of them are names of columns, others are
// keywords or functions.
func Names(text string) []string {
	var names []string
	for _, t := range tokensOf(text) {
		if t.kind == word || t.kind == quoted {
			names = append(names, t.text)
		}
	}
	return names
}

// Literals returns the text literals and number literals of a condition, in their order.
func Literals(text string) []string {
	var literals []string
	for _, t := range tokensOf(text) {
		if t.kind == literal || t.kind == numeral {
			literals = append(literals, t.text)
		}
	}
	return literals
}

type tokenKind int

const (
	word tokenKind = iota
	quoted
	literal
	numeral
	sign
)

type token struct {
	kind tokenKind
	text string // words as written; quoted names and literals without the quotes
}

const (
	digits    = "0123456789"
	operators = "+-*/<>=~!@#%^&|?"
)

func isWordStart(r rune) bool {
	return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

func isWordPart(r rune) bool { return isWordStart(r) || r == '$' || r >= '0' && r <= '9' }

// tokensOf splits a condition into tokens. A character that cannot begin another kind of token is a token of the kind
// sign.
func tokensOf(text string) []token {
	var tokens []token
	for text != "" {
		var t token
		t, text = next(text)
		if t.text != "" || t.kind == literal {
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// next returns the first token of the text, and the text after this token. For blanks and comments, the token is an
// empty word.
func next(text string) (token, string) {
	first := rune(text[0])
	switch {
	case strings.ContainsRune(" \t\r\n\f\v", first):
		return token{}, text[1:]
	case strings.HasPrefix(text, "--"):
		_, rest, _ := strings.Cut(text, "\n")
		return token{}, rest
	case strings.HasPrefix(text, "/*"):
		_, rest, _ := strings.Cut(text[2:], "*/")
		return token{}, rest
	case first == '\'':
		return enclosed(literal, text, "'")
	case first == '"', first == '`':
		return enclosed(quoted, text, text[:1])
	case (first == 'e' || first == 'E') && strings.HasPrefix(text[1:], "'"):
		t, rest := enclosed(literal, text[1:], "'")
		if strings.Contains(t.text, `\`) {
			t = token{sign, `\`} // a sign that occurs in no condition, so that the outcome is Undecided
		}
		return t, rest
	case isWordStart(first):
		return cut(word, text, func(r rune) bool { return !isWordPart(r) })
	case strings.ContainsRune(digits, first), first == '.' && len(text) > 1 && strings.Contains(digits, text[1:2]):
		return cut(numeral, text, func(r rune) bool { return r != '.' && !isWordPart(r) })
	case strings.HasPrefix(text, "::"):
		return token{sign, "::"}, text[2:]
	case strings.ContainsRune(operators, first):
		t, rest := cut(sign, text, func(r rune) bool { return !strings.ContainsRune(operators, r) })
		for len(t.text) > 1 && strings.HasSuffix(t.text, "-") && !strings.ContainsAny(t.text, "~!@#%^&|?") {
			t.text, rest = t.text[:len(t.text)-1], "-"+rest // the minus belongs to a number, as in >-1
		}
		return t, rest
	default:
		return token{sign, text[:1]}, text[1:]
	}
}

func cut(kind tokenKind, text string, ends func(rune) bool) (token, string) {
	n := strings.IndexFunc(text, ends)
	if n < 0 {
		n = len(text)
	}
	return token{kind, text[:n]}, text[n:]
}

// enclosed returns the token between two quotes, and the text after it. Inside the token, two quotes in a row mean one
// quote.
func enclosed(kind tokenKind, text, quote string) (token, string) {
	inside := ""
	for rest := text[1:]; ; {
		part, after, closed := strings.Cut(rest, quote)
		inside += part
		switch {
		case !closed:
			return token{sign, `\`}, ""
		case !strings.HasPrefix(after, quote):
			return token{kind, inside}, after
		}
		inside, rest = inside+quote, after[1:]
	}
}
