package triggers

import (
	"slices"

	"github.com/habeas-data/habeas/internal/sqltext"
)

// constantWrites returns the tables to which the code writes nothing but constants, by their names in the code: each
// statement that writes to them is UPDATE name SET column = constant. It returns nil if the code may call a routine
// that writes other values.
func constantWrites(t sqltext.Tokens) []string {
	var constant, other []string
	for i := range t {
		switch {
		case t.Is(i, "execute", "call", "perform"), t.IsName(i) && t.IsSign(i+1, "(") && !t.Is(i-1, "into") &&
			!t.Is(i, harmless...):
			return nil
		case t.Is(i, "into"):
			other = append(other, t.NameAt(i+1))
		case t.Is(i, "update"):
			at := i + 1
			if t.Is(at, "only") {
				at++
			}
			if setsConstants(t, at) {
				constant = append(constant, t.NameAt(at))
			} else {
				other = append(other, t.NameAt(at))
			}
		}
	}
	return slices.DeleteFunc(constant, func(name string) bool { return slices.Contains(other, name) })
}

// harmless are functions that write nothing, and keywords before a bracket.
var harmless = []string{
	"now", "clock_timestamp", "statement_timestamp", "coalesce", "greatest", "least", "count", "sum", "min", "max",
	"lower", "upper", "length", "nullif", "in", "values", "exists", "and", "or", "not", "where", "if", "elsif", "when",
	"on", "using", "any", "all", "select", "from", "as", "return", "set", "then",
}

// setsConstants reports whether each assignment of an UPDATE sets a constant. The token at i is the name of the table.
func setsConstants(t sqltext.Tokens, i int) bool {
	end := t.EndOfStatement(i)
	for ; i < end && !t.Is(i, "set"); i++ {
	}
	for i++; i < end; {
		to := t.EndOfValue(i, end)
		if !t.IsName(i) || !t.IsSign(i+1, "=") || !isConstant(t[i+2:to]) {
			return false
		}
		if !t.IsSign(to, ",") {
			return true
		}
		i = to + 1
	}
	return false
}

// isConstant reports whether a value is a text, a number, a keyword such as NULL, or the present instant.
func isConstant(t sqltext.Tokens) bool {
	isColon := func(s sqltext.Token) bool { return s.Kind == sqltext.TokenSign && s.Text == ":" }
	if i := slices.IndexFunc(t, isColon); i > 0 {
		t = t[:i] // a cast
	}
	if t.IsSign(0, "-") {
		t = t[1:]
	}
	switch {
	case len(t) == 3 && t.Is(0, "now", "clock_timestamp", "statement_timestamp"):
		return t.IsSign(1, "(") && t.IsSign(2, ")")
	case len(t) != 1:
		return false
	}
	return t[0].Kind == sqltext.TokenString ||
		t.Is(0, "true", "false", "null", "default", "current_timestamp", "current_date") ||
		t[0].Kind == sqltext.TokenWord && t[0].Text[0] >= '0' && t[0].Text[0] <= '9'
}
