package live

import (
	"slices"
)

// plainSelect is the definition of a plain view of SQLite.
type plainSelect struct {
	table   string
	columns []string // without *
}

// plainView parses CREATE VIEW name AS SELECT columns FROM table. The last result is false if the statement has any
// other part, such as a condition, a join or an expression.
func (t Tokens) plainView() (view plainSelect, ok bool) {
	i := slices.IndexFunc(t, func(token Token) bool { return Lower(token.Text) == "view" }) + 1
	if t.Is(i, "if") {
		i += 3
	}
	i = t.afterName(i)
	if t.IsSign(i, "(") {
		i = t.closingBracket(i) + 1
	}
	if !t.Is(i, "as") || !t.Is(i+1, "select") {
		return view, false
	}
	for i++; ; {
		i++
		switch {
		case t.IsSign(i, "*"):
			i++
		case i < len(t) && t.isName(i):
			name := i
			if i = t.afterName(i); i > name+1 {
				name = i - 1
			}
			view.columns = append(view.columns, t[name].Text)
			if t.Is(i, "as") {
				i += 2
			}
		default:
			return view, false
		}
		if !t.IsSign(i, ",") {
			break
		}
	}
	if !t.Is(i, "from") || i+1 >= len(t) || !t.isName(i+1) {
		return view, false
	}
	end := t.afterName(i + 1)
	view.table = t[end-1].Text
	return view, end == len(t) || t.IsSign(end, ";") && end == len(t)-1
}

// afterName returns the index after a name that starts at the index i, and that may have a schema.
func (t Tokens) afterName(i int) int {
	for i++; t.IsSign(i, "."); {
		i += 2
	}
	return min(i, len(t))
}
