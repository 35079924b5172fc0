package catalog

import (
	"slices"
	"strings"
)

type token struct {
	kind     tokenKind
	text     string // the token without quotes
	from, to int    // the bytes from:to of the statement are the token
}

type tokenKind int

const (
	tokenSign   tokenKind = iota // a single character
	tokenWord                    // a keyword or a name
	tokenName                    // a quoted name
	tokenString                  // a string constant
)

type tokens []token

// tokensOf splits an SQL statement into tokens. It omits comments. The parameter quotes maps each character that opens
// a quoted name to the character that closes the name.
func tokensOf(statement string, quotes map[byte]byte) (found tokens) {
	whole, from := len(statement), 0
	add := func(kind tokenKind, text string) {
		found = append(found, token{kind, text, from, whole - len(statement)})
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
			add(tokenName, until(string(closing)))
		case first == '\'':
			statement = statement[1:]
			add(tokenString, until("'"))
		case n == 1 && (first == 'e' || first == 'E') && strings.HasPrefix(statement[1:], "'"):
			statement = afterEscapes(statement[2:])
			add(tokenString, "")
		case first == '$':
			statement = statement[1:]
			notInTag := func(r rune) bool { return !isWordCharacter(r) }
			if tag, _, ok := strings.Cut(statement, "$"); ok && !strings.ContainsFunc(tag, notInTag) {
				statement = statement[len(tag)+1:]
				add(tokenString, until("$"+tag+"$"))
			}
		case n > 0:
			word := statement[:n]
			statement = statement[n:]
			add(tokenWord, word)
		default:
			statement = statement[1:]
			if !strings.ContainsRune(" \t\r\n\f\v", rune(first)) {
				add(tokenSign, string(first))
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

func (t tokens) is(i int, keywords ...string) bool {
	return i >= 0 && i < len(t) && t[i].kind == tokenWord && slices.Contains(keywords, strings.ToLower(t[i].text))
}

// has reports whether the keyword occurs.
func (t tokens) has(keyword string) bool {
	for i := range t {
		if t.is(i, keyword) {
			return true
		}
	}
	return false
}

func (t tokens) isSign(i int, signs ...string) bool {
	return i >= 0 && i < len(t) && t[i].kind == tokenSign && slices.Contains(signs, t[i].text)
}

// closingBracket returns the index of the bracket that closes the bracket at the index i, or len(t) if there is none.
func (t tokens) closingBracket(i int) int {
	for depth := 0; i < len(t); i++ {
		if t.isSign(i, "(") {
			depth++
		}
		if t.isSign(i, ")") {
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// inBrackets returns the tokens between the first opening bracket and its closing bracket.
func (t tokens) inBrackets() tokens {
	for i := range t {
		if t.isSign(i, "(") {
			return t[i+1 : t.closingBracket(i)]
		}
	}
	return nil
}

// targetTables returns the target tables of INSERT, REPLACE, MERGE and UPDATE. It also reports whether the code
// contains dynamic SQL (EXECUTE).
func (t tokens) targetTables() (tables []string, isDynamic bool) {
	for i := range t {
		at := i + 1
		switch {
		case t.is(i, "execute") && !t.is(at, "function", "procedure", "on"):
			isDynamic = true
			continue
		case t.is(i, "into") && (t.is(i-1, "insert", "replace", "merge") || t.is(i-3, "insert") && t.is(i-2, "or")):
		case t.is(i, "update") && !t.is(i-1, "for", "key", "on", "do"): // not FOR UPDATE, ON UPDATE
			if t.is(at, "or") {
				at += 2
			}
		default:
			continue
		}
		if t.is(at, "only") {
			at++
		}
		if name := t.nameAt(at); name != "" && !t.is(at, "of", "on", "set") {
			tables = append(tables, name)
		}
	}
	return tables, isDynamic
}

// isCall reports whether the token at the index i may be the name of a called routine: a name before an opening
// bracket. After INTO, such a name is not a routine but a table with a list of columns.
func (t tokens) isCall(i int) bool {
	if !t.isName(i) || !t.isSign(i+1, "(") {
		return false
	}
	if t.isSign(i-1, ".") {
		i -= 2
	}
	return !t.is(i-1, "into")
}

// isName reports whether the token at i is a name or a keyword.
func (t tokens) isName(i int) bool { return t[i].kind == tokenWord || t[i].kind == tokenName }

// nameAt returns the table name that starts at the index i, with its schema if the text has one. SQLite also accepts a
// string constant as a name.
func (t tokens) nameAt(i int) (name string) {
	for ; i < len(t) && t[i].kind != tokenSign; i += 2 {
		name += t[i].text
		if !t.isSign(i+1, ".") {
			return name
		}
		name += "."
	}
	return ""
}
