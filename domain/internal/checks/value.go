package checks

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

type kind int

const (
	isUnknown kind = iota
	isNull
	isBool
	isText
	isNumber
)

// value is the value of an expression.
type value struct {
	kind   kind
	truth  bool
	text   string
	number float64
}

var unknown = value{}

func of(v any) value {
	switch v := v.(type) {
	case nil:
		return value{kind: isNull}
	case bool:
		return truth(v)
	case float64:
		return value{kind: isNumber, number: v}
	case string:
		return value{kind: isText, text: v}
	default:
		return unknown
	}
}

func truth(b bool) value { return value{kind: isBool, truth: b} }

func not(v value) value {
	if v.kind == isBool {
		v.truth = !v.truth
	}
	return v
}

// and is the three-valued AND of SQL, with unknown as a fourth value that only false beats.
func and(a, b value) value {
	switch {
	case a.kind == isBool && !a.truth, b.kind == isBool && !b.truth:
		return truth(false)
	case a.kind == isBool && b.kind == isBool:
		return truth(true)
	case a.kind == isUnknown, b.kind == isUnknown:
		return unknown
	default:
		return value{kind: isNull}
	}
}

func or(a, b value) value { return not(and(not(a), not(b))) }

// both returns what every operator makes of values that are NULL or unknown, if one of them is.
func both(a, b value) (value, bool) {
	switch {
	case a.kind == isUnknown, b.kind == isUnknown:
		return unknown, true
	case a.kind == isNull, b.kind == isNull:
		return value{kind: isNull}, true
	default:
		return value{}, false
	}
}

// compare applies an operator of comparison.
func compare(operator string, a, b value) value {
	if v, done := both(a, b); done {
		return v
	}
	order, ok := orderOf(a, b)
	if !ok {
		return unknown
	}
	switch operator {
	case "=", "==":
		return truth(order == 0)
	case "<>", "!=":
		return truth(order != 0)
	case "<":
		return truth(order < 0)
	case "<=":
		return truth(order <= 0)
	case ">":
		return truth(order > 0)
	case ">=":
		return truth(order >= 0)
	default:
		return unknown
	}
}

// orderOf compares numbers and texts. Instants and dates are texts whose order is that of time.
func orderOf(a, b value) (order int, ok bool) {
	switch {
	case a.kind == isText && b.kind == isText:
		return strings.Compare(a.text, b.text), true
	case a.kind == isBool && b.kind == isBool:
		if a.truth == b.truth {
			return 0, true
		}
		return 1, true
	}
	x, okX := a.asNumber()
	y, okY := b.asNumber()
	switch {
	case !okX || !okY:
		return 0, false
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	default:
		return 0, true
	}
}

func (v value) asNumber() (float64, bool) {
	switch v.kind { //nolint:exhaustive // the others are no numbers
	case isNumber:
		return v.number, true
	case isBool:
		if v.truth {
			return 1, true
		}
		return 0, true
	case isText:
		n, err := strconv.ParseFloat(v.text, 64)
		return n, err == nil
	default:
		return 0, false
	}
}

// matches applies LIKE, a regular expression, or one of their variants.
func matches(operator string, a, b value) value {
	if v, done := both(a, b); done {
		return v
	}
	if a.kind != isText || b.kind != isText {
		return unknown
	}
	operator, negated := strings.CutPrefix(operator, "!")
	expression := b.text
	switch operator {
	case "~~", "like", "~~*", "ilike":
		expression = likeExpression(b.text)
	case "~", "~*":
	default:
		return unknown
	}
	if operator == "~*" || operator == "~~*" || operator == "ilike" {
		expression = "(?i)" + expression
	}
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return unknown
	}
	return truth(compiled.MatchString(a.text) != negated)
}

func likeExpression(pattern string) string {
	var b strings.Builder
	b.WriteString("(?s)^")
	for _, r := range pattern {
		switch r {
		case '%':
			b.WriteString(".*")
		case '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String() + "$"
}

// call applies a function.
func call(name string, arguments []value) value {
	for _, a := range arguments {
		if a.kind == isUnknown {
			return unknown
		}
	}
	if len(arguments) == 0 || name == "coalesce" || name == "ifnull" {
		return unknown
	}
	first := arguments[0]
	if first.kind == isNull {
		return first
	}
	if first.kind != isText {
		return unknown
	}
	switch {
	case len(arguments) == 1:
		return callOne(name, first)
	case len(arguments) == 2 && (name == "position" || name == "strpos" || name == "instr") && arguments[1].kind == isText:
		return value{kind: isNumber, number: float64(1 + strings.Index(first.text, arguments[1].text))}
	default:
		return unknown
	}
}

func callOne(name string, argument value) value {
	switch name {
	case "length", "char_length", "character_length":
		return value{kind: isNumber, number: float64(utf8.RuneCountInString(argument.text))}
	case "octet_length":
		return value{kind: isNumber, number: float64(len(argument.text))}
	case "lower":
		argument.text = strings.ToLower(argument.text)
	case "upper":
		argument.text = strings.ToUpper(argument.text)
	case "trim", "btrim":
		argument.text = strings.TrimSpace(argument.text)
	default:
		return unknown
	}
	return argument
}
