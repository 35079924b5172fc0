package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/internal/sqltext"
)

// castsOf returns the types, other than texts, to which an SQL text converts a column, or a text that functions such as
// lower make of it. PostgreSQL writes a conversion as value::type.
func castsOf(text, column string) (kinds []string) {
	tokens := sqltext.TokensOf(text, sqltext.QuotesOfPostgres)
	for i := range tokens {
		if !isCast(tokens, i) || !isTextOf(operandBefore(tokens, i), column) {
			continue
		}
		kind, _, _ := strings.Cut(typeOf.FindString(text[tokens[i+2].From:]), " AS ")
		if kind = strings.TrimSpace(kind); !isTextType(kind) && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// typeOf matches the name of a type, such as double precision or shop.color.
var typeOf = regexp.MustCompile(`^[a-z_"][\w". ]*`)

func isTextType(kind string) bool {
	return slices.Contains([]string{"text", "bpchar", "name", "citext"}, kind) || strings.HasPrefix(kind, "character")
}

func isCast(t sqltext.Tokens, i int) bool {
	return t.IsSign(i, ":") && t.IsSign(i+1, ":") && i+2 < len(t)
}

// operandBefore returns the value that the conversion at i converts: a column, or what is in brackets, with the name of
// the function before them.
func operandBefore(t sqltext.Tokens, i int) sqltext.Tokens {
	from := i - 1
	if t.IsSign(from, ")") {
		for from--; from >= 0 && (!t.IsSign(from, "(") || t.ClosingBracket(from) != i-1); from-- {
		}
		if from > 0 && t.IsName(from-1) && slices.Contains(keepingText, strings.ToLower(t[from-1].Text)) {
			from--
		}
	} else if t.IsSign(from-1, ".") {
		from -= 2
	}
	return t[max(from, 0):i]
}

// isTextOf reports whether a value is a text that contains the column or a part of it: the column, or what functions
// such as lower make of it.
func isTextOf(value sqltext.Tokens, column string) (found bool) {
	for i := range value {
		switch {
		case isCast(value, i) && !isTextType(strings.ToLower(value[i+2].Text)):
			return false
		case isCast(value, i-2), value[i].Kind == sqltext.TokenString, value.Is(i, "varying"), value.IsSign(i+1, "."):
		case value[i].Kind == sqltext.TokenSign:
			if !strings.Contains("(),.:|", value[i].Text) {
				return false
			}
		case value[i].Text == column:
			found = true
		case value[i].Text[0] >= '0' && value[i].Text[0] <= '9':
		case !value.IsSign(i+1, "(") || !slices.Contains(keepingText, strings.ToLower(value[i].Text)):
			return false
		}
	}
	return found
}

// onlyAsNull reports whether an SQL text reads a column only as NULLIF(column, value), which is NULL for the value.
func onlyAsNull(text, column, value string) bool {
	tokens, found := sqltext.TokensOf(text, sqltext.QuotesOfPostgres), false
	for i := range tokens {
		if !tokens.IsName(i) || tokens[i].Text != column {
			continue
		}
		from := i - 1
		for tokens.IsSign(from, "(") || tokens.IsSign(from, ".") || tokens.IsSign(from+1, ".") {
			from--
		}
		at := i + 1
		for at < len(tokens) && !tokens.IsSign(at, ",") {
			at++
		}
		if !tokens.Is(from, "nullif") || at+1 >= len(tokens) || tokens[at+1].Kind != sqltext.TokenString ||
			tokens[at+1].Text != value {
			return false
		}
		found = true
	}
	return found
}

// keepingText are functions of PostgreSQL that return a text or a part of it.
var keepingText = terms(`
	lower, upper, initcap, trim, btrim, ltrim, rtrim, substr, substring, left, right, replace, regexp_replace, translate,
	split_part, concat, nullif, coalesce`)

// surelyCasts reports whether an SQL text always converts a column to a type, and converts nothing else. The text is an
// expression, or the definition of an index.
func surelyCasts(text, column, kind string) bool {
	tokens := sqltext.TokensOf(text, sqltext.QuotesOfPostgres)
	values := []sqltext.Tokens{tokens}
	if tokens.Is(0, "create") {
		begin := slices.IndexFunc(tokens, func(t sqltext.Token) bool { return t.Kind == sqltext.TokenSign && t.Text == "(" })
		if begin < 0 || tokens.Has("where") {
			return false
		}
		values = entriesIn(tokens, begin)
	}
	brackets := strings.NewReplacer("(", "", ")", "", `"`, "")
	return slices.ContainsFunc(values, func(value sqltext.Tokens) bool {
		return len(value) > 0 &&
			brackets.Replace(text[value[0].From:value[len(value)-1].To]) == column+"::"+kind
	})
}
