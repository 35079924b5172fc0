package checks

import (
	"slices"
	"strconv"
	"strings"
)

// parser evaluates an expression while it reads it.
type parser struct {
	tokens []token
	at     int
	column string
	with   value // the value of the column
	failed bool  // the text could not be read
	depth  int
}

func (p *parser) atEnd() bool {
	return p.at == len(p.tokens) || p.tokens[p.at].is("not") && p.at+1 < len(p.tokens) && p.tokens[p.at+1].is("valid") ||
		p.tokens[p.at].is("no")
}

// take reads the next token if it is one of those.
func (p *parser) take(texts ...string) (string, bool) {
	if p.at < len(p.tokens) {
		for _, text := range texts {
			if p.tokens[p.at].is(text) {
				p.at++
				return text, true
			}
		}
	}
	return "", false
}

func (p *parser) need(text string) {
	if _, ok := p.take(text); !ok {
		p.failed = true
	}
}

// or reads a whole expression.
func (p *parser) or() value {
	const deepest = 100
	if p.depth++; p.depth > deepest {
		p.failed = true
	}
	defer func() { p.depth-- }()
	if p.failed {
		return unknown
	}
	result := p.and()
	for !p.failed {
		if _, ok := p.take("or"); !ok {
			break
		}
		result = or(result, p.and())
	}
	return result
}

func (p *parser) and() value {
	result := p.not()
	for !p.failed {
		if _, ok := p.take("and"); !ok {
			break
		}
		result = and(result, p.not())
	}
	return result
}

func (p *parser) not() value {
	if _, ok := p.take("not"); ok && !p.failed {
		return not(p.not())
	}
	return p.predicate()
}

// predicate reads an operand and what is said of it.
func (p *parser) predicate() value {
	operand := p.operand()
	for !p.failed {
		if _, ok := p.take("is"); ok {
			operand = p.is(operand)
			continue
		}
		if operator, ok := p.take("=", "==", "<>", "!=", "<", "<=", ">", ">="); ok {
			operand = p.compared(operator, operand)
			continue
		}
		if operator, ok := p.take("~~", "!~~", "~~*", "!~~*", "~", "!~", "~*", "!~*", "like", "ilike"); ok {
			operand = matches(operator, operand, p.operand())
			continue
		}
		before := p.at
		_, negated := p.take("not")
		result, ok := p.negatable(operand)
		if !ok {
			p.at = before
			return operand
		}
		if operand = result; negated {
			operand = not(result)
		}
	}
	return operand
}

// negatable reads a predicate before which NOT may stand.
func (p *parser) negatable(operand value) (value, bool) {
	if operator, ok := p.take("like", "ilike"); ok {
		return matches(operator, operand, p.operand()), true
	}
	if _, ok := p.take("in"); ok {
		return oneOf("=", operand, p.list("(", ")")), true
	}
	if _, ok := p.take("between"); ok {
		low := p.operand()
		p.need("and")
		return and(compare(">=", operand, low), compare("<=", operand, p.operand())), true
	}
	return value{}, false
}

func (p *parser) is(operand value) value {
	_, negated := p.take("not")
	which, _ := p.take("null", "true", "false")
	result := unknown
	switch {
	case which == "":
		p.failed = true
	case operand.kind == isUnknown:
	case which == "null":
		result = truth(operand.kind == isNull)
	default:
		result = truth(operand.kind == isBool && operand.truth == (which == "true"))
	}
	if negated {
		return not(result)
	}
	return result
}

// compared reads the right side of a comparison: an operand, or ANY of a list of them.
func (p *parser) compared(operator string, left value) value {
	if _, ok := p.take("any"); !ok {
		return compare(operator, left, p.operand())
	}
	p.need("(")
	closing := 1
	for !p.failed {
		if _, ok := p.take("("); !ok {
			break
		}
		closing++
	}
	p.need("array")
	list := p.list("[", "]")
	for ; closing > 0 && !p.failed; closing-- {
		p.casts()
		p.need(")")
	}
	return oneOf(operator, left, list)
}

func oneOf(operator string, left value, list []value) value {
	result := truth(false)
	for _, element := range list {
		result = or(result, compare(operator, left, element))
	}
	return result
}

// list reads operands between brackets.
func (p *parser) list(opening, closing string) []value {
	p.need(opening)
	if _, ok := p.take(closing); ok {
		return nil
	}
	var list []value
	for !p.failed {
		list = append(list, p.or())
		if _, ok := p.take(closing); ok {
			return list
		}
		p.need(",")
	}
	return list
}

// operand reads a value with its casts.
func (p *parser) operand() value {
	if p.failed || p.at == len(p.tokens) {
		p.failed = true
		return unknown
	}
	result := p.primary()
	p.casts()
	return result
}

// casts reads and leaves out ::character varying(40)[] and COLLATE x.
func (p *parser) casts() {
	for !p.failed {
		_, cast := p.take("::")
		_, collate := p.take("collate")
		if !cast && !collate {
			return
		}
		for p.at < len(p.tokens) && (p.tokens[p.at].kind == quoted ||
			p.tokens[p.at].kind == word && !slices.ContainsFunc(keywords, p.tokens[p.at].is) || p.tokens[p.at].is(".")) {
			p.at++
		}
		if _, ok := p.take("("); ok && cast {
			for p.at < len(p.tokens) && !p.tokens[p.at].is(")") {
				p.at++
			}
			p.need(")")
		}
		for !p.failed {
			if _, ok := p.take("["); !ok {
				break
			}
			p.need("]")
		}
	}
}

// keywords end the name of a type.
var keywords = []string{"and", "or", "not", "is", "in", "between", "like", "ilike"}

func (p *parser) primary() value {
	t := p.tokens[p.at]
	p.at++
	switch {
	case t.is("("):
		result := p.or()
		p.need(")")
		return result
	case t.is("-"), t.is("+"):
		v := p.operand()
		if v.kind != isNumber {
			return unknown
		}
		if t.text == "-" {
			v.number = -v.number
		}
		return v
	case t.kind == literal:
		return of(t.text)
	case t.kind == number:
		n, err := strconv.ParseFloat(t.text, 64)
		p.failed = p.failed || err != nil
		return of(n)
	case t.kind == symbol:
		p.failed = true
		return unknown
	case t.kind == word && slices.Contains([]string{"true", "false"}, strings.ToLower(t.text)):
		return truth(strings.EqualFold(t.text, "true"))
	case t.is("null"):
		return of(nil)
	}
	return p.named(t)
}

// named reads a column, or a function with its arguments.
func (p *parser) named(t token) value {
	if p.at < len(p.tokens) && p.tokens[p.at].is("(") {
		if t.is("position") && p.at+2 < len(p.tokens) && p.tokens[p.at+2].is("in") { // position('@' in email)
			p.at++
			part := p.primary()
			p.need("in")
			whole := p.operand()
			p.need(")")
			return call("position", []value{whole, part})
		}
		return call(strings.ToLower(t.text), p.list("(", ")"))
	}
	if t.is("value") || t.kind == quoted && t.text == p.column || t.kind == word && strings.EqualFold(t.text, p.column) {
		return p.with
	}
	return unknown
}
