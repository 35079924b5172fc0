package live

import "strings"

// counts reports whether an UPDATE only stores numbers of rows, so that it keeps no value of a row. The token at i is
// the first one after UPDATE. Each assignment has one of these forms:
//
//   - n = n + 1, also within COALESCE and GREATEST
//   - n = (SELECT count(...) FROM ...)
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
		return t.Is(2, "count") && t.closingBracket(0) == len(t)-1 && t.Is(t.closingBracket(3)+1, "from")
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
