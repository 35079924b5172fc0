package live

import "github.com/habeas-data/habeas/internal/sqltext"

// plainSelect is the definition of a plain view of SQLite.
type plainSelect struct {
	table   string
	columns []string // without *
}

// plainView parses CREATE VIEW name AS SELECT columns FROM table. The last result is false if the statement has any
// other part, such as a condition, a join or an expression.
func plainView(t sqltext.Tokens) (view plainSelect, ok bool) {
	i := t.AfterCreate("view")
	if t.IsSign(i, "(") {
		i = t.ClosingBracket(i) + 1
	}
	if !t.Is(i, "as") || !t.Is(i+1, "select") {
		return view, false
	}
	for i++; ; {
		i++
		switch {
		case t.IsSign(i, "*"):
			i++
		case i < len(t) && t.IsName(i):
			name := i
			if i = t.AfterName(i); i > name+1 {
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
	if !t.Is(i, "from") || i+1 >= len(t) || !t.IsName(i+1) {
		return view, false
	}
	end := t.AfterName(i + 1)
	view.table = t[end-1].Text
	return view, end == len(t) || t.IsSign(end, ";") && end == len(t)-1
}
