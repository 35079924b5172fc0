package condition

import (
	"slices"
	"strings"
)

// reader parses a condition and evaluates it in the same pass. If the reader cannot parse a part, it sets the field
// failed, and the outcome of the condition is Undecided.
type reader struct {
	tokens []token
	at     int
	depth  int
	column func(name string) Value
	failed bool
}

func (r *reader) fail() Value {
	r.failed, r.at = true, len(r.tokens)
	return Value{}
}

// isWord reports whether a token is one of the words. It tests the next token if offset is 0, and the token after it if
// offset is 1.
func (r *reader) isWord(offset int, words ...string) bool {
	i := r.at + offset
	return i < len(r.tokens) && r.tokens[i].kind == word &&
		slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, r.tokens[i].text) })
}

func (r *reader) isSign(offset int, signs ...string) bool {
	i := r.at + offset
	return i < len(r.tokens) && r.tokens[i].kind == sign && slices.Contains(signs, r.tokens[i].text)
}

// word consumes the next token if it is one of the words, and reports whether it did.
func (r *reader) word(words ...string) bool {
	if r.isWord(0, words...) {
		r.at++
		return true
	}
	return false
}

// sign consumes the next token if it is one of the signs, and reports whether it did.
func (r *reader) sign(signs ...string) bool {
	if r.isSign(0, signs...) {
		r.at++
		return true
	}
	return false
}

// need consumes the next token if it is the given sign. Otherwise, the condition cannot be parsed, and its outcome is
// Undecided.
func (r *reader) need(text string) {
	if !r.sign(text) {
		r.fail()
	}
}

func (r *reader) disjunction() Value {
	const deepest = 200
	if r.depth++; r.depth > deepest {
		return r.fail()
	}
	defer func() { r.depth-- }()
	value := r.conjunction()
	for r.word("or") {
		value = orOf(value, r.conjunction())
	}
	return value
}

func (r *reader) conjunction() Value {
	value := r.negation()
	for r.word("and") {
		value = andOf(value, r.negation())
	}
	return value
}

func (r *reader) negation() Value {
	if r.word("not") {
		return negated(r.negation())
	}
	value := r.operand()
	for {
		next, more := r.predicate(value)
		if !more {
			return value
		}
		value = next
	}
}

// predicate parses a predicate, such as IS NULL or > 3, after the first operand. It returns false if the next token
// does not begin a predicate.
func (r *reader) predicate(value Value) (result Value, more bool) {
	switch {
	case r.word("isnull"):
		return value.isNull(), true
	case r.word("notnull"):
		return negated(value.isNull()), true
	case r.isWord(0, "not") && r.isWord(1, "null"):
		r.at += 2
		return negated(value.isNull()), true
	case r.word("is"):
		if r.word("not") {
			return negated(r.test(value)), true
		}
		return r.test(value), true
	case r.isWord(0, "not") && r.isWord(1, "in", "between", "like", "ilike", "glob", "regexp", "match", "similar"):
		r.at++
		return negated(r.membership(value)), true
	case r.isWord(0, "in", "between", "like", "ilike", "glob", "regexp", "match", "similar"):
		return r.membership(value), true
	case r.isSign(0, "=", "==", "<>", "!=", "<", "<=", ">", ">=",
		"~", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*"):
		r.at++
		return r.comparison(value, r.tokens[r.at-1].text), true
	}
	return Value{}, false
}

// test parses the part of a predicate after IS or IS NOT, such as NULL or TRUE.
func (r *reader) test(value Value) Value {
	switch {
	case r.word("null", "unknown"):
		return value.isNull()
	case r.word("true"):
		return value.isExactly(true)
	case r.word("false"):
		return value.isExactly(false)
	case r.word("distinct"):
		if !r.word("from") {
			return r.fail()
		}
		return negated(notDistinct(value, r.operand()))
	default:
		return notDistinct(value, r.operand())
	}
}

// isExactly returns the value of "v IS TRUE" or "v IS FALSE".
func (v Value) isExactly(want bool) Value {
	switch truth := v.truth(); truth.kind { //nolint:exhaustive // the others are not known
	case boolean:
		return Boolean(truth.is == want)
	case null:
		return Boolean(false)
	default:
		return Value{}
	}
}

// notDistinct returns the value of "a IS NOT DISTINCT FROM b".
func notDistinct(a, b Value) Value {
	if a.kind == null || b.kind == null {
		return andOf(a.isNull(), b.isNull())
	}
	return compare(a, "=", b)
}

// membership parses a predicate with IN, BETWEEN, LIKE or a similar operator, after the first operand.
func (r *reader) membership(value Value) Value {
	switch {
	case r.word("in"):
		r.need("(")
		return anyOf(value, "=", r.list(")"))
	case r.word("between"):
		r.word("symmetric", "asymmetric")
		low := r.operand()
		if !r.word("and") {
			return r.fail()
		}
		return andOf(compare(value, ">=", low), compare(value, "<=", r.operand()))
	case r.word("like"):
		// PostgreSQL distinguishes upper and lower case in LIKE, but SQLite ignores the case of ASCII letters. The database
		// is unknown here. Therefore, the result is known only if it is the same on both databases.
		pattern := r.operand()
		if r.word("escape") {
			r.operand()
			return Value{}
		}
		exact, folded := matches(value, pattern, likePattern(false), false), matches(value, pattern, likePattern(false), true)
		if exact.kind == boolean && folded.kind == boolean && exact.is == folded.is || exact.kind == null {
			return exact
		}
		return Value{}
	case r.word("ilike"):
		return matches(value, r.operand(), likePattern(true), true)
	case r.word("glob"):
		return matches(value, r.operand(), globPattern, false)
	}
	r.at++
	r.word("to")
	r.operand()
	return Value{}
}

// comparison parses the right operand of a comparison and returns the value of the comparison.
func (r *reader) comparison(value Value, operator string) Value {
	if r.isWord(0, "any", "some", "all") && r.isSign(1, "(") {
		all := r.isWord(0, "all")
		r.at += 2
		values := r.disjunction()
		r.need(")")
		switch {
		case values.kind != list:
			return Value{}
		case all:
			result := Boolean(true)
			for _, candidate := range values.list {
				result = andOf(result, operate(value, operator, candidate))
			}
			return result
		}
		return anyOf(value, operator, values.list)
	}
	return operate(value, operator, r.operand())
}

// anyOf returns the value of "value IN (values)" or of "value operator ANY (values)".
func anyOf(value Value, operator string, values []Value) Value {
	result := Boolean(false)
	for _, candidate := range values {
		result = orOf(result, operate(value, operator, candidate))
	}
	return result
}

func operate(a Value, operator string, b Value) Value {
	if inner, not := strings.CutPrefix(operator, "!"); not && inner != "=" {
		return negated(operate(a, inner, b))
	}
	switch operator {
	case "~":
		return matches(a, b, regularExpression, false)
	case "~*":
		return matches(a, b, regularExpression, true)
	case "~~":
		return matches(a, b, likePattern(true), false)
	case "~~*":
		return matches(a, b, likePattern(true), true)
	case "==":
		operator = "="
	case "!=":
		operator = "<>"
	}
	return compare(a, operator, b)
}

// list parses values separated by commas, and the closing sign after the last value.
func (r *reader) list(end string) []Value {
	var values []Value
	if r.sign(end) {
		return nil
	}
	for {
		values = append(values, r.disjunction())
		switch {
		case r.failed:
			return values
		case r.sign(","):
		case r.sign(end):
			return values
		default:
			r.fail()
			return values
		}
	}
}
