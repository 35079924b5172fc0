package live

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/internal/sqltext"
)

// targetTables returns the target tables of INSERT, REPLACE, MERGE and UPDATE, and those of DELETE and TRUNCATE. It
// leaves out an UPDATE that only counts. It also reports whether the code contains dynamic SQL (EXECUTE).
func targetTables(t sqltext.Tokens) (written, deleted []string, isDynamic bool) {
	for i := range t {
		at := i + 1
		all := &written
		switch {
		case t.Is(i, "execute") && !t.Is(at, "function", "procedure", "on"):
			more, gone, known := executed(t, at)
			written, deleted, isDynamic = append(written, more...), append(deleted, gone...), isDynamic || !known
			continue
		case t.Is(i, "into") && (t.Is(i-1, "insert", "replace", "merge") || t.Is(i-3, "insert") && t.Is(i-2, "or")):
		case t.Is(i, "update") && !t.Is(i-1, "for", "key", "on", "do"): // not FOR UPDATE, ON UPDATE
			if t.Is(at, "or") {
				at += 2
			}
			if counts(t, at) {
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
func executed(t sqltext.Tokens, i int) (written, deleted []string, known bool) {
	if i >= len(t) || t[i].Kind != sqltext.TokenString || !t.IsSign(i+1, ";") && !t.Is(i+1, "into", "using") {
		return nil, nil, false
	}
	statement := sqltext.TokensOf(t[i].Text, sqltext.QuotesOfPostgres)
	for at := range statement {
		if isCall(statement, at) {
			return nil, nil, false
		}
	}
	written, deleted, isDynamic := targetTables(statement)
	return written, deleted, !isDynamic && statement.Is(0, "lock", "set", "insert", "update", "delete", "truncate",
		"merge", "with", "select", "notify", "refresh", "analyze")
}

// isCall reports whether the token at the index i may be the name of a called routine: a name before an opening
// bracket. After INTO, such a name is not a routine but a table with a list of columns.
func isCall(t sqltext.Tokens, i int) bool {
	if !t.IsName(i) || !t.IsSign(i+1, "(") {
		return false
	}
	if t.IsSign(i-1, ".") {
		i -= 2
	}
	return !t.Is(i-1, "into")
}

// counts reports whether an UPDATE only stores numbers of rows, so that it keeps no value of a row. The token at i is
// the first one after UPDATE. Each assignment has one of these forms:
//
//   - n = n + 1, also within COALESCE and GREATEST
//   - n = n + source.n, in which the source is another table of the statement, not the row of the trigger
//   - n = (SELECT count(...) FROM ...), also sum, and within COALESCE
func counts(t sqltext.Tokens, i int) bool {
	end := t.EndOfStatement(i)
	for ; i < end && !t.Is(i, "set"); i++ {
	}
	for i++; i < end; {
		to := t.EndOfValue(i, end)
		if !t.IsName(i) || !t.IsSign(i+1, "=") || !isCount(t[i+2:to], t[i].Text) {
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
func isCount(t sqltext.Tokens, column string) bool {
	if t.IsSign(0, "(") && t.Is(1, "select") {
		at, closed := 2, 0
		if t.Is(at, "coalesce") && t.IsSign(at+1, "(") {
			at, closed = at+2, t.ClosingBracket(at+1)
		}
		end := t.ClosingBracket(at + 1)
		if closed > 0 && t.IsSign(end+1, ",") {
			end = closed
		}
		return t.Is(at, "count", "sum") && t.ClosingBracket(0) == len(t)-1 && t.Is(end+1, "from")
	}
	if addsToOwn(t, column) {
		return true
	}
	mentioned, computed := false, false
	for i, token := range t {
		isOwn := t.IsName(i) && strings.EqualFold(token.Text, column)
		mentioned, computed = mentioned || isOwn, computed || t.IsSign(i, "+", "-")
		isNumber := token.Kind == sqltext.TokenWord && token.Text[0] >= '0' && token.Text[0] <= '9'
		if !isOwn && !isNumber && !t.IsSign(i, "(", ")", "+", "-", ",") && !t.Is(i, "coalesce", "greatest") {
			return false
		}
	}
	return mentioned && computed
}

// addsToOwn reports whether a value is the column, with or without its table, plus or minus something that is not made
// of the row of the trigger. A sum of numbers cannot hold a text.
func addsToOwn(t sqltext.Tokens, column string) bool {
	at := 0
	if t.IsSign(1, ".") {
		at = 2
	}
	return len(t) > at+2 && t.IsName(at) && strings.EqualFold(t[at].Text, column) && t.IsSign(at+1, "+", "-") &&
		!t.Has("new") && !t.Has("old") && !t.Has("concat") &&
		!slices.ContainsFunc(t, func(s sqltext.Token) bool { return s.Kind == sqltext.TokenSign && s.Text == "|" })
}
