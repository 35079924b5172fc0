package check

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// comparison is a comparison of a column with a constant, as in gh_id > 0.
type comparison struct{ column, operator, constant string }

// isLeftOut reports whether the condition of a partial index surely leaves out the rows after an erasure, because the
// database has evaluated it, or because a surrogate does not satisfy a comparison in it. An example is the surrogate -1
// with the condition gh_id > 0. Without the database, it returns false if the condition is not one comparison of a
// column with a constant, or several of them with AND.
func (w write) isLeftOut(unique datamap.CatalogUnique) bool {
	if slices.Contains(w.outside, unique.Name) {
		return true
	}
	return slices.ContainsFunc(comparisonsIn(unique.Where), func(c comparison) bool {
		i := slices.IndexFunc(w.columns, func(column written) bool { return sameName(w.live, column.Name, c.column) })
		return i >= 0 && w.columns[i].fails(c)
	})
}

// comparisonsIn returns the comparisons of a condition, or nil if it has another form. The text may be the complete
// definition of an index.
func comparisonsIn(where string) (all []comparison) {
	text := bare(sqltext.TokensOf(where, sqltext.QuotesOfPostgres))
	for len(text) >= 3 && text.IsName(0) {
		c, next := comparison{column: text[0].Text}, 1
		for ; next < len(text) && text.IsSign(next, "<", ">", "=", "!"); next++ {
			c.operator += text[next].Text
		}
		if next < len(text) && text.IsSign(next, "-") {
			c.constant = "-"
			next++
		}
		if next == len(text) || c.operator == "" || !isConstant(text[next]) {
			return nil
		}
		c.constant += text[next].Text
		all, text = append(all, c), text[next+1:]
		if len(text) == 0 {
			return all
		}
		if !text.Is(0, "and") {
			return nil
		}
		text = text[1:]
	}
	return nil
}

// bare returns the tokens of a condition without brackets, and without casts that change no value.
func bare(text sqltext.Tokens) (rest sqltext.Tokens) {
	for i := range text {
		if text.Is(i, "where") {
			text = text[i+1:]
			break
		}
	}
	for i := 0; i < len(text); i++ {
		isCast := i+2 < len(text) && text.IsSign(i, ":") && text.IsSign(i+1, ":") &&
			text.Is(i+2, "text", "smallint", "integer", "bigint")
		switch {
		case isCast:
			i += 2
		case !text.IsSign(i, "(", ")"):
			rest = append(rest, text[i])
		}
	}
	return rest
}

// isConstant reports whether a token is a whole number, or a text without escapes.
func isConstant(token sqltext.Token) bool {
	_, err := strconv.ParseInt(token.Text, 10, 64)
	return err == nil || token.Kind == sqltext.TokenString && (token.Text != "" || token.To-token.From == len("''"))
}

// fails reports whether the value of a column after an erasure fails a comparison for sure.
func (c written) fails(with comparison) bool {
	constant, ok := c.Constant()
	if !ok && family(c.Type) == datamap.TypeNumber {
		constant, ok = surrogateOf(c.Column).text, true
	}
	if !ok || c.null || c.expired || c.Digits() > 0 {
		return false
	}
	switch family(c.live.Type) { //nolint:exhaustive // other types have several texts for a value
	case datamap.TypeNumber:
		value, wrong := strconv.ParseInt(constant, 10, 64)
		limit, err := strconv.ParseInt(with.constant, 10, 64)
		return wrong == nil && err == nil && failsAsNumber(cmp.Compare(value, limit), with.operator)
	case datamap.TypeText:
		isUnequal := with.operator == "<>" || with.operator == "!="
		isOther := !strings.EqualFold(strings.TrimRight(constant, " "), strings.TrimRight(with.constant, " "))
		return isUnequal && constant == with.constant || with.operator == "=" && isOther // in each collation
	default:
		return false
	}
}

// failsAsNumber reports whether a comparison is false. The order is negative if the left side is less.
func failsAsNumber(order int, operator string) bool {
	switch operator {
	case "=":
		return order != 0
	case "<>", "!=":
		return order == 0
	case "<":
		return order >= 0
	case "<=":
		return order > 0
	case ">":
		return order <= 0
	case ">=":
		return order < 0
	default:
		return false
	}
}
