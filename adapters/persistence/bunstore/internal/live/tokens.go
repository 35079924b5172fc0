package live

import (
	"slices"
	"strings"
)

// Token is a word, a name, a string constant or a sign of a statement.
type Token struct {
	Kind     TokenKind
	Text     string // the token without quotes
	from, to int    // the bytes from:to of the statement are the token
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

// has reports whether the keyword occurs.
func (t Tokens) has(keyword string) bool {
	return slices.ContainsFunc(t, func(token Token) bool { return Tokens{token}.Is(0, keyword) })
}

// IsSign reports whether the token at the index i is one of the signs.
func (t Tokens) IsSign(i int, signs ...string) bool {
	return i >= 0 && i < len(t) && t[i].Kind == TokenSign && slices.Contains(signs, t[i].Text)
}

// closingBracket returns the index of the bracket that closes the bracket at the index i, or len(t) if there is none.
func (t Tokens) closingBracket(i int) int {
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

// inBrackets returns the tokens between the first opening bracket and its closing bracket.
func (t Tokens) inBrackets() Tokens {
	for i := range t {
		if t.IsSign(i, "(") {
			return t[i+1 : t.closingBracket(i)]
		}
	}
	return nil
}

// targetTables returns the target tables of INSERT, REPLACE, MERGE and UPDATE, and those of DELETE and TRUNCATE. It
// leaves out an UPDATE that only counts. It also reports whether the code contains dynamic SQL (EXECUTE).
func (t Tokens) targetTables() (written, deleted []string, isDynamic bool) {
	for i := range t {
		at := i + 1
		all := &written
		switch {
		case t.Is(i, "execute") && !t.Is(at, "function", "procedure", "on"):
			more, gone, known := t.executed(at)
			written, deleted, isDynamic = append(written, more...), append(deleted, gone...), isDynamic || !known
			continue
		case t.Is(i, "into") && (t.Is(i-1, "insert", "replace", "merge") || t.Is(i-3, "insert") && t.Is(i-2, "or")):
		case t.Is(i, "update") && !t.Is(i-1, "for", "key", "on", "do"): // not FOR UPDATE, ON UPDATE
			if t.Is(at, "or") {
				at += 2
			}
			if t.counts(at) {
				continue
			}
		case t.Is(i, "from") && t.Is(i-1, "delete"):
			all = &deleted
		case t.Is(i, "truncate"):
			if all = &deleted; t.Is(at, "table") {
				at++
			}
		default:
			continue
		}
		if t.Is(at, "only") {
			at++
		}
		if name := t.NameAt(at); name != "" && !t.Is(at, "of", "on", "set", "or") {
			*all = append(*all, name)
		}
	}
	return written, deleted, isDynamic
}

// executed returns the target tables of a statement that is a string constant at the index i. It returns false if the
// code builds the statement at run time, or if the statement calls a routine.
func (t Tokens) executed(i int) (written, deleted []string, known bool) {
	if i >= len(t) || t[i].Kind != TokenString || !t.IsSign(i+1, ";") && !t.Is(i+1, "into", "using") {
		return nil, nil, false
	}
	statement := TokensOf(t[i].Text, map[byte]byte{'"': '"'})
	for at := range statement {
		if statement.isCall(at) {
			return nil, nil, false
		}
	}
	written, deleted, isDynamic := statement.targetTables()
	return written, deleted, !isDynamic && statement.Is(0, "lock", "set", "insert", "update", "delete", "truncate",
		"merge", "with", "select", "notify", "refresh", "analyze")
}

// isCall reports whether the token at the index i may be the name of a called routine: a name before an opening
// bracket. After INTO, such a name is not a routine but a table with a list of columns.
func (t Tokens) isCall(i int) bool {
	if !t.isName(i) || !t.IsSign(i+1, "(") {
		return false
	}
	if t.IsSign(i-1, ".") {
		i -= 2
	}
	return !t.Is(i-1, "into")
}

// isName reports whether the token at i is a name or a keyword.
func (t Tokens) isName(i int) bool { return t[i].Kind == TokenWord || t[i].Kind == TokenName }

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
