package live

import (
	"slices"
	"strings"
)

// counts reports whether an UPDATE only stores numbers of rows, so that it keeps no value of a row. The token at i is
// the first one after UPDATE. Each assignment has one of these forms:
//
//   - n = n + 1, also within COALESCE and GREATEST
//   - n = n + source.n, in which the source is another table of the statement, not the row of the trigger
//   - n = (SELECT count(...) FROM ...), also sum, and within COALESCE
func (t Tokens) counts(i int) bool {
	end := t.endOfStatement(i)
	for ; i < end && !t.Is(i, "set"); i++ {
	}
	for i++; i < end; {
		to := t.endOfValue(i, end)
		if !t.isName(i) || !t.IsSign(i+1, "=") || !t[i+2:to].isCount(t[i].Text) {
			return false
		}
		if !t.IsSign(to, ",") {
			return true
		}
		i = to + 1
	}
	return false
}

// isCount reports whether a value of the column is a number of rows. See counts.
func (t Tokens) isCount(column string) bool {
	if t.IsSign(0, "(") && t.Is(1, "select") {
		at, closed := 2, 0
		if t.Is(at, "coalesce") && t.IsSign(at+1, "(") {
			at, closed = at+2, t.closingBracket(at+1)
		}
		end := t.closingBracket(at + 1)
		if closed > 0 && t.IsSign(end+1, ",") {
			end = closed
		}
		return t.Is(at, "count", "sum") && t.closingBracket(0) == len(t)-1 && t.Is(end+1, "from")
	}
	if t.addsToOwn(column) {
		return true
	}
	mentioned, computed := false, false
	for i, token := range t {
		isOwn := t.isName(i) && strings.EqualFold(token.Text, column)
		mentioned, computed = mentioned || isOwn, computed || t.IsSign(i, "+", "-")
		isNumber := token.Kind == TokenWord && token.Text[0] >= '0' && token.Text[0] <= '9'
		if !isOwn && !isNumber && !t.IsSign(i, "(", ")", "+", "-", ",") && !t.Is(i, "coalesce", "greatest") {
			return false
		}
	}
	return mentioned && computed
}

// addsToOwn reports whether a value is the column, with or without its table, plus or minus something that is not made
// of the row of the trigger. A sum of numbers cannot hold a text.
func (t Tokens) addsToOwn(column string) bool {
	at := 0
	if t.IsSign(1, ".") {
		at = 2
	}
	return len(t) > at+2 && t.isName(at) && strings.EqualFold(t[at].Text, column) && t.IsSign(at+1, "+", "-") &&
		!t.has("new") && !t.has("old") && !t.has("concat") &&
		!slices.ContainsFunc(t, func(token Token) bool { return token.Kind == TokenSign && token.Text == "|" })
}
