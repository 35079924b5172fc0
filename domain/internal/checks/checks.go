// Package checks says whether a value fits a CHECK constraint, without a database. It reads the expressions that most
// constraints consist of, in the forms in which PostgreSQL and SQLite write them, and says Unknown to everything else.
package checks

import (
	"slices"
	"strings"
)

// Verdict is the result of a check.
type Verdict int

// The verdicts.
const (
	Unknown Verdict = iota // the constraint cannot be read, or depends on other columns
	Passes
	Fails
)

// Fits returns whether a row with the value in the column passes the constraint. The value is nil for NULL, a string, a
// float64 or a bool; instants are strings of RFC 3339. Constraints of a domain call the value VALUE.
func Fits(text, column string, with any) Verdict {
	tokens, ok := scan(text)
	if !ok {
		return Unknown
	}
	if len(tokens) > 0 && tokens[0].is("check") {
		tokens = tokens[1:]
	}
	p := &parser{tokens: tokens, column: column, with: of(with)}
	result := p.or()
	if p.failed || !p.atEnd() {
		return Unknown
	}
	switch {
	case result.kind == isBool && !result.truth:
		return Fails
	case result.kind == isBool, result.kind == isNull: // a constraint is broken by false alone
		return Passes
	default:
		return Unknown
	}
}

// Literals returns the texts and numbers that stand in the constraint, in its order, each once.
func Literals(text string) []string {
	tokens, _ := scan(text)
	var found []string
	for _, t := range tokens {
		if (t.kind == literal || t.kind == number) && !slices.Contains(found, t.text) {
			found = append(found, t.text)
		}
	}
	return found
}

type tokenKind int

const (
	word tokenKind = iota
	quoted
	literal
	number
	symbol
)

type token struct {
	kind tokenKind
	text string
}

// is reports whether the token is the symbol, or the word in whatever case.
func (t token) is(text string) bool {
	return t.kind == symbol && t.text == text || t.kind == word && strings.EqualFold(t.text, text)
}

// symbols, the longer ones first.
var symbols = []string{
	"!~~*", "!~~", "!~*", "~~*", "!~", "~~", "~*", "<=", ">=", "<>", "!=", "==", "::", "||", "~", "<", ">", "=", "(", ")",
	"[", "]", ",", ".", "-", "+",
}

func scan(text string) (tokens []token, ok bool) {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			return tokens, true
		}
		t, size := next(text)
		if size == 0 {
			return tokens, false
		}
		tokens, text = append(tokens, t), text[size:]
	}
}

// next reads the first token of the text. The size is 0 if there is none.
func next(text string) (t token, size int) {
	switch c := text[0]; {
	case c == '\'':
		return enclosed(text, '\'', literal)
	case c == '"' || c == '`':
		return enclosed(text, c, quoted)
	case isLetter(c):
		size = 1
		for size < len(text) && (isLetter(text[size]) || isDigit(text[size])) {
			size++
		}
		return token{word, text[:size]}, size
	case isDigit(c):
		size = 1
		for size < len(text) && (isDigit(text[size]) || text[size] == '.') {
			size++
		}
		return token{number, text[:size]}, size
	}
	for _, s := range symbols {
		if strings.HasPrefix(text, s) {
			return token{symbol, s}, len(s)
		}
	}
	return token{}, 0
}

// enclosed reads a text between quotes, in which two of them are one.
func enclosed(text string, quote byte, kind tokenKind) (token, int) {
	var inside strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != quote:
			inside.WriteByte(text[i])
		case i+1 < len(text) && text[i+1] == quote:
			inside.WriteByte(quote)
			i++
		default:
			return token{kind, inside.String()}, i + 1
		}
	}
	return token{}, 0
}

func isLetter(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
