package condition

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// named parses an expression that begins with a word. The word is a keyword, or the name of a function or a column.
func (r *reader) named(first token) Value {
	if first.kind == word && !r.isSign(1, "(", ".") {
		switch strings.ToLower(first.text) {
		case "null":
			r.at++
			return Null()
		case "true", "false":
			r.at++
			return Boolean(strings.EqualFold(first.text, "true"))
		case "current_date", "current_timestamp", "localtimestamp":
			r.at++
			return Value{kind: now}
		case "case":
			r.at++
			return r.cases()
		case "array":
			r.at++
			r.need("[")
			return Value{kind: list, list: r.list("]")}
		case "date", "timestamp", "timestamptz":
			if r.at+1 < len(r.tokens) && r.tokens[r.at+1].kind == literal {
				r.at += 2
				return cast(Text(r.tokens[r.at-1].text), "timestamp", 0, false)
			}
		case "interval":
			if r.at+1 < len(r.tokens) && r.tokens[r.at+1].kind == literal {
				r.at += 2
				return Value{}
			}
		}
	}
	if r.isWord(0, "cast") && r.isSign(1, "(") {
		r.at += 2
		value := r.disjunction()
		if !r.word("as") {
			return r.fail()
		}
		value = r.cast(value)
		r.need(")")
		return value
	}
	name := r.name()
	if !r.sign("(") {
		return r.column(name)
	}
	if name = strings.ToLower(name); r.word("from", "both", "leading", "trailing", "distinct") {
		return r.fail()
	}
	return call(name, r.arguments(name))
}

// arguments parses the arguments of a function. They are separated by commas, or by IN in POSITION(a IN b).
func (r *reader) arguments(name string) []Value {
	if name != "position" {
		return r.list(")")
	}
	part := r.operand()
	if r.sign(",") || r.word("in") {
		arguments := append([]Value{part}, r.operand())
		r.need(")")
		return []Value{arguments[1], arguments[0]}
	}
	r.fail()
	return nil
}

// cases parses a CASE expression after the word CASE.
func (r *reader) cases() Value {
	operand, compared := Value{}, !r.isWord(0, "when")
	if compared {
		operand = r.disjunction()
	}
	result, decided, sure := Null(), false, true
	take := func(value Value, condition Value) {
		switch {
		case decided || condition.kind == null || condition.isFalse():
		case condition.isTrue():
			result, decided = value, true
		default:
			sure = false
		}
	}
	for r.word("when") {
		condition := r.disjunction()
		if compared {
			condition = compare(operand, "=", condition)
		}
		if !r.word("then") {
			return r.fail()
		}
		take(r.disjunction(), condition.truth())
	}
	if r.word("else") {
		take(r.disjunction(), Boolean(true))
	}
	if !r.word("end") {
		return r.fail()
	}
	if !sure {
		return Value{}
	}
	return result
}

// call returns the value of a function for the arguments. The value of an unknown function is unknown.
func call(name string, arguments []Value) Value {
	switch name {
	case "coalesce", "ifnull":
		for _, argument := range arguments {
			if argument.kind != null {
				return argument.coalesce(arguments)
			}
		}
		return Null()
	case "num_nulls", "num_nonnulls":
		return countNulls(name == "num_nulls", arguments)
	case "now", "transaction_timestamp", "statement_timestamp", "clock_timestamp":
		return Value{kind: now}
	}
	if len(arguments) == 0 {
		return Value{}
	}
	if isNow := arguments[0].kind == text && arguments[0].text == "now"; isNow && len(arguments) == 1 &&
		(name == "date" || name == "datetime") {
		return Value{kind: now}
	}
	value, isText := textFunctions[name]
	if !isText && name != "abs" && name != "date" && name != "datetime" {
		return Value{}
	}
	if result, known := strict(arguments...); known {
		return result
	}
	switch first := arguments[0]; {
	case name == "abs" && first.kind == number:
		return Number(max(first.number, -first.number))
	case name == "date" || name == "datetime":
		if at := first.asInstant(); len(arguments) == 1 && at.kind == instant {
			return at
		}
	case isText && first.kind == text:
		return value(first.text, arguments[1:])
	}
	return Value{}
}

// coalesce returns the value of the SQL function COALESCE. v is the first operand that is possibly not NULL. The result
// is v if v is known, Present() if an operand is known to be not NULL, and otherwise an unknown value.
func (v Value) coalesce(operands []Value) Value {
	if v.kind != unknown {
		return v
	}
	for _, operand := range operands {
		if operand.kind != unknown && operand.kind != null {
			return Present()
		}
	}
	return v
}

func countNulls(nulls bool, values []Value) Value {
	n := 0
	for _, value := range values {
		switch {
		case value.kind == unknown:
			return Value{}
		case (value.kind == null) == nulls:
			n++
		}
	}
	return Number(float64(n))
}

const blanks = " "

// textFunctions are the SQL functions whose first argument is a text, by name. Each gets this text and a list of the
// other arguments. All arguments are known and not NULL.
var textFunctions = map[string]func(s string, more []Value) Value{
	"length":           runes,
	"char_length":      runes,
	"character_length": runes,
	"octet_length":     func(s string, more []Value) Value { return onlyText(more, Number(float64(len(s)))) },
	"lower":            func(s string, more []Value) Value { return onlyText(more, Text(strings.ToLower(s))) },
	"upper":            func(s string, more []Value) Value { return onlyText(more, Text(strings.ToUpper(s))) },
	"trim":             func(s string, more []Value) Value { return onlyText(more, Text(strings.Trim(s, blanks))) },
	"btrim":            func(s string, more []Value) Value { return onlyText(more, Text(strings.Trim(s, blanks))) },
	"ltrim":            func(s string, more []Value) Value { return onlyText(more, Text(strings.TrimLeft(s, blanks))) },
	"rtrim":            func(s string, more []Value) Value { return onlyText(more, Text(strings.TrimRight(s, blanks))) },
	"strpos":           positionIn,
	"instr":            positionIn,
	"position":         positionIn,
	"starts_with": func(s string, more []Value) Value {
		if len(more) != 1 || more[0].kind != text {
			return Value{}
		}
		return Boolean(strings.HasPrefix(s, more[0].text))
	},
	"substr":       substr,
	"substring":    substr,
	"left":         func(s string, more []Value) Value { return substr(s, append([]Value{Number(1)}, more...)) },
	"json_valid":   func(s string, more []Value) Value { return onlyText(more, Boolean(json.Valid([]byte(s)))) },
	"json_typeof":  kindOfJSON,
	"jsonb_typeof": kindOfJSON,
}

func runes(s string, more []Value) Value {
	return onlyText(more, Number(float64(utf8.RuneCountInString(s))))
}

// onlyText returns the value of a function that takes only a text. If there are more arguments, it returns an unknown
// value.
func onlyText(more []Value, value Value) Value {
	if len(more) > 0 {
		return Value{}
	}
	return value
}

func positionIn(s string, more []Value) Value {
	if len(more) != 1 || more[0].kind != text {
		return Value{}
	}
	before, _, found := strings.Cut(s, more[0].text)
	if !found {
		return Number(0)
	}
	return Number(float64(utf8.RuneCountInString(before) + 1))
}

// substr returns the value of the SQL function substr for the text s. The other arguments are the position of the first
// character, and possibly the length.
func substr(s string, more []Value) Value {
	runes := []rune(s)
	if len(more) == 0 || len(more) > 2 || more[0].kind != number || more[0].number < 1 {
		return Value{}
	}
	from, length := int(more[0].number)-1, len(runes)
	if len(more) == 2 {
		if more[1].kind != number || more[1].number < 0 {
			return Value{}
		}
		length = int(more[1].number)
	}
	from = min(from, len(runes))
	return Text(string(runes[from:min(len(runes), from+length)]))
}

func kindOfJSON(s string, more []Value) Value {
	switch {
	case len(more) > 0 || !json.Valid([]byte(s)):
		return Value{}
	case strings.HasPrefix(s, "{"):
		return Text("object")
	case strings.HasPrefix(s, "["):
		return Text("array")
	default:
		return Value{}
	}
}
