// Package sqltext splits SQL statements into tokens. The stores and the tools read definitions of tables, views and
// triggers with it.
package sqltext

import (
	"slices"
	"strings"
)

// Token is a word, a name, a string constant or a sign of a statement.
type Token struct {
	Kind     TokenKind
	Text     string // the token without quotes
	From, To int    // the bytes From:To of the statement are the token
}

// TokenKind is the kind of a token.
type TokenKind int

// The kinds of tokens.
const (
	TokenSign   TokenKind = iota // a single character
	TokenWord                    // a keyword or a name
	TokenName                    // a quoted name
	TokenString                  // a string constant
)

// These maps have the characters that open a quoted name, each with the character that closes the name. In PostgreSQL,
// a bracket opens the index of an array.
var (
	QuotesOfPostgres = map[byte]byte{'"': '"'}
	QuotesOfSQLite   = map[byte]byte{'"': '"', '`': '`', '[': ']'}
)

// Tokens are the tokens of a statement, without comments.
type Tokens []Token

// TokensOf splits an SQL statement into tokens. It omits comments. The parameter quotes maps each character that opens
// a quoted name to the character that closes the name.
func TokensOf(statement string, quotes map[byte]byte) (found Tokens) {
	whole, from := len(statement), 0
	add := func(kind TokenKind, text string) {
		found = append(found, Token{kind, text, from, whole - len(statement)})
	}
	// until removes the text before a delimiter, and the delimiter, from statement. It returns the text before the
	// delimiter.
	until := func(end string) string {
		before, after, _ := strings.Cut(statement, end)
		statement = after
		return before
	}
	for statement != "" {
		first := statement[0]
		from = whole - len(statement)
		n := strings.IndexFunc(statement, func(r rune) bool { return r != '$' && !isWordCharacter(r) })
		if n < 0 {
			n = len(statement)
		}
		closing, isQuote := quotes[first]
		switch {
		case strings.HasPrefix(statement, "--"):
			until("\n")
		case strings.HasPrefix(statement, "/*"):
			until("*/")
		case isQuote:
			statement = statement[1:]
			add(TokenName, until(string(closing)))
		case first == '\'':
			statement = statement[1:]
			add(TokenString, until("'"))
		case n == 1 && (first == 'e' || first == 'E') && strings.HasPrefix(statement[1:], "'"):
			statement = afterEscapes(statement[2:])
			add(TokenString, "")
		case first == '$':
			statement = statement[1:]
			notInTag := func(r rune) bool { return !isWordCharacter(r) }
			if tag, _, ok := strings.Cut(statement, "$"); ok && !strings.ContainsFunc(tag, notInTag) {
				statement = statement[len(tag)+1:]
				add(TokenString, until("$"+tag+"$"))
			}
		case n > 0:
			word := statement[:n]
			statement = statement[n:]
			add(TokenWord, word)
		default:
			statement = statement[1:]
			if !strings.ContainsRune(" \t\r\n\f\v", rune(first)) {
				add(TokenSign, string(first))
			}
		}
	}
	return found
}

func isWordCharacter(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// afterEscapes skips the rest of a string constant with backslash escapes (E'...'), whose opening quote the caller has
// removed. It returns the text after the constant.
func afterEscapes(statement string) string {
	for i := 0; i < len(statement); i++ {
		switch statement[i] {
		case '\\':
			i++
		case '\'':
			return statement[i+1:]
		}
	}
	return ""
}

// Is reports whether the token at the index i is one of the keywords.
func (t Tokens) Is(i int, keywords ...string) bool {
	return i >= 0 && i < len(t) && t[i].Kind == TokenWord && slices.Contains(keywords, strings.ToLower(t[i].Text))
}

// Has reports whether the keyword occurs.
func (t Tokens) Has(keyword string) bool {
	return slices.ContainsFunc(t, func(token Token) bool { return Tokens{token}.Is(0, keyword) })
}

// IsSign reports whether the token at the index i is one of the signs.
func (t Tokens) IsSign(i int, signs ...string) bool {
	return i >= 0 && i < len(t) && t[i].Kind == TokenSign && slices.Contains(signs, t[i].Text)
}

// ClosingBracket returns the index of the bracket that closes the bracket at the index i, or len(t) if there is none.
func (t Tokens) ClosingBracket(i int) int {
	for depth := 0; i < len(t); i++ {
		if t.IsSign(i, "(") {
			depth++
		}
		if t.IsSign(i, ")") {
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// IsName reports whether the token at i is a name or a keyword.
func (t Tokens) IsName(i int) bool { return t[i].Kind == TokenWord || t[i].Kind == TokenName }

// NameAt returns the table name that starts at the index i, with its schema if the text has one. SQLite also accepts a
// string constant as a name.
func (t Tokens) NameAt(i int) (name string) {
	for ; i < len(t) && t[i].Kind != TokenSign; i += 2 {
		name += t[i].Text
		if !t.IsSign(i+1, ".") {
			return name
		}
		name += "."
	}
	return ""
}

// Body returns the tokens of the code of a trigger of SQLite or of a rule without its header, and other code unchanged.
func (t Tokens) Body() Tokens {
	if t.Is(0, "create") {
		return t[len(t.Until(0, "begin", "do")):]
	}
	return t
}

// Until returns the tokens from the index to the next of the keywords that is not in brackets.
func (t Tokens) Until(from int, keywords ...string) Tokens {
	for i := from; i < len(t); i++ {
		if t.IsSign(i, "(") {
			i = t.ClosingBracket(i)
		} else if t.Is(i, keywords...) {
			return t[from:i]
		}
	}
	return t[min(from, len(t)):]
}

// EndOfStatement returns the index of the semicolon that ends the statement with the token at i.
func (t Tokens) EndOfStatement(i int) int {
	for ; i < len(t) && !t.IsSign(i, ";"); i++ {
	}
	return i
}

// EndOfValue returns the index after a value of SET: that of a comma, of WHERE or FROM, or the end.
func (t Tokens) EndOfValue(i, end int) int {
	for ; i < end; i++ {
		switch {
		case t.IsSign(i, "("):
			i = t.ClosingBracket(i)
		case t.IsSign(i, ","), t.Is(i, "where", "from", "returning"):
			return i
		}
	}
	return end
}

// AfterCreate returns the index after the name of the object that a statement such as CREATE VIEW name creates. The
// parameter kind is the keyword before the name.
func (t Tokens) AfterCreate(kind string) int {
	i := slices.IndexFunc(t, func(token Token) bool { return strings.EqualFold(token.Text, kind) }) + 1
	if t.Is(i, "if") { // IF NOT EXISTS
		i += 3
	}
	return t.AfterName(i)
}

// AfterName returns the index after a name that starts at the index i, and that may have a schema.
func (t Tokens) AfterName(i int) int {
	for i++; t.IsSign(i, "."); {
		i += 2
	}
	return min(i, len(t))
}
