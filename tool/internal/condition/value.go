package condition

import (
	"strconv"
	"strings"
	"time"
)

type kind int

const (
	unknown kind = iota
	present      // any value except NULL
	null
	text
	number
	boolean
	instant
	now // the current time, which is in 2024 or later
	list
)

// Value is the known part of the value of a column or an expression. The zero Value is unknown: it may be any value or
// NULL.
type Value struct {
	kind   kind
	text   string
	number float64
	is     bool
	at     time.Time
	list   []Value
}

// Null returns NULL.
func Null() Value { return Value{kind: null} }

// Present returns a value that is known to be not NULL.
func Present() Value { return Value{kind: present} }

// Text returns a value whose text form is s. The value is a text, or a value of another type of which only the text
// form is known.
func Text(s string) Value { return Value{kind: text, text: s} }

// Number returns a number.
func Number(n float64) Value { return Value{kind: number, number: n} }

// Boolean returns true or false.
func Boolean(b bool) Value { return Value{kind: boolean, is: b} }

// Time returns an instant or a date.
func Time(t time.Time) Value { return Value{kind: instant, at: t} }

// truth returns the value as an operand of AND, OR and NOT. The result is a boolean, NULL or unknown.
func (v Value) truth() Value {
	switch v.kind { //nolint:exhaustive // the other kinds have no boolean value
	case boolean, null:
		return v
	case number: // SQLite has numbers as booleans
		return Boolean(v.number != 0)
	default:
		return Value{}
	}
}

func (v Value) isFalse() bool { return v.kind == boolean && !v.is }
func (v Value) isTrue() bool  { return v.kind == boolean && v.is }

// andOf returns the value of "a AND b".
func andOf(a, b Value) Value {
	a, b = a.truth(), b.truth()
	switch {
	case a.isFalse() || b.isFalse():
		return Boolean(false)
	case a.kind == unknown || b.kind == unknown:
		return Value{}
	case a.kind == null || b.kind == null:
		return Null()
	default:
		return Boolean(true)
	}
}

func negated(v Value) Value {
	if v = v.truth(); v.kind == boolean {
		return Boolean(!v.is)
	}
	return v
}

func orOf(a, b Value) Value { return negated(andOf(negated(a), negated(b))) }

// isNull returns the value of "v IS NULL".
func (v Value) isNull() Value {
	if v.kind == unknown {
		return Value{}
	}
	return Boolean(v.kind == null)
}

// strict checks the operands of a function or operator that returns NULL if an operand is NULL. If all operands are
// known and not NULL, done is false, and the caller must compute the result. Otherwise, result is NULL, unknown, or
// only known to be not NULL.
func strict(operands ...Value) (result Value, done bool) {
	result.kind = boolean // stays boolean if no operand determines the result
	for _, v := range operands {
		switch {
		case v.kind == null:
			return v, true
		case v.kind == unknown:
			result = v
		case v.kind == present && result.kind != unknown:
			result = v
		}
	}
	return result, result.kind != boolean
}

// compare returns the value of a comparison by =, <>, <, <=, > or >=.
func compare(a Value, operator string, b Value) Value {
	if result, known := strict(a, b); known {
		return result
	}
	order, known := order(a, b)
	const differs = 2
	switch {
	case !known && order != differs:
		return Value{}
	case !known && operator == "=":
		return Boolean(false)
	case !known && operator == "<>":
		return Boolean(true)
	case !known:
		return Value{}
	}
	switch operator {
	case "=":
		return Boolean(order == 0)
	case "<>":
		return Boolean(order != 0)
	case "<":
		return Boolean(order < 0)
	case "<=":
		return Boolean(order <= 0)
	case ">":
		return Boolean(order > 0)
	default:
		return Boolean(order >= 0)
	}
}

// order compares two values. If the order is known, the result is negative if a is less than b, 0 if both are equal,
// and positive if a is greater. Otherwise, the result is 2 if a and b are known to differ, and 0 if nothing is known.
func order(a, b Value) (order int, known bool) {
	if a.kind == text && b.kind == text {
		switch { // the order of other texts depends on the collation
		case a.text == b.text:
			return 0, true
		case a.text == "":
			return -1, true
		case b.text == "":
			return 1, true
		case strings.EqualFold(a.text, b.text):
			return 0, false
		}
		return 2, false
	}
	if a, b := a.asNumber(), b.asNumber(); a.kind == number && b.kind == number {
		return signOf(a.number - b.number), true
	}
	a, b = a.asInstant(), b.asInstant()
	switch {
	case a.kind == instant && b.kind == instant:
		return a.at.Compare(b.at), true
	case a.kind == instant && b.kind == now && a.at.Year() < 2024:
		return -1, true
	case a.kind == now && b.kind == instant && b.at.Year() < 2024:
		return 1, true
	default:
		return 0, false
	}
}

func signOf(n float64) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	default:
		return 0
	}
}

func (v Value) asNumber() Value {
	switch {
	case v.kind != boolean:
		return v
	case v.is:
		return Number(1)
	default:
		return Number(0)
	}
}

func (v Value) asInstant() Value {
	if v.kind != text {
		return v
	}
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05.999999999-07", time.DateTime,
		"2006-01-02T15:04:05", time.DateOnly,
	} {
		if t, err := time.Parse(layout, v.text); err == nil {
			return Time(t)
		}
	}
	return v
}

// cast returns the value v cast to a type. The name of the type must be in lower case.
func cast(v Value, name string, length int, isArray bool) Value {
	if v.kind == null || v.kind == unknown || v.kind == present || v.kind == list {
		return v
	}
	if isArray {
		return listOf(v)
	}
	switch name {
	case "text", "varchar", "character varying", "character", "char", "bpchar", "name", "citext":
		return v.asText(length)
	case "smallint", "integer", "int", "bigint", "int2", "int4", "int8", "numeric", "decimal", "real",
		"double precision", "float", "float4", "float8":
		if n, err := strconv.ParseFloat(v.text, 64); v.kind == text && err == nil {
			return Number(n)
		}
		if v = v.asNumber(); v.kind == number {
			return v
		}
		return Value{}
	case "boolean", "bool":
		if b, err := strconv.ParseBool(v.text); v.kind == text && err == nil {
			return Boolean(b)
		}
		return v.truth()
	case "date", "timestamp", "timestamptz", "datetime":
		if v = v.asInstant(); v.kind == instant || v.kind == now {
			return v
		}
		return Value{}
	}
	if v.kind == text && name != "interval" { // a type with a text form, such as an enum, a UUID or JSON
		return v
	}
	return Value{}
}

func (v Value) asText(length int) Value {
	switch v.kind { //nolint:exhaustive // the other kinds have several text forms
	case number:
		v = Text(strconv.FormatFloat(v.number, 'f', -1, 64))
	case boolean:
		v = Text(strconv.FormatBool(v.is))
	case text:
	default:
		return Value{}
	}
	if runes := []rune(v.text); length > 0 && len(runes) > length {
		v.text = string(runes[:length])
	}
	return v
}

// listOf parses the text form of a PostgreSQL array, such as {a,b}. It returns an unknown value if an element has
// quotes or escapes.
func listOf(v Value) Value {
	inside, opened := strings.CutPrefix(v.text, "{")
	inside, closed := strings.CutSuffix(inside, "}")
	if v.kind != text || !opened || !closed || strings.ContainsAny(inside, `"\{}`) {
		return Value{}
	}
	all := Value{kind: list}
	if inside == "" {
		return all
	}
	for element := range strings.SplitSeq(inside, ",") {
		if strings.EqualFold(element, "null") {
			all.list = append(all.list, Null())
			continue
		}
		all.list = append(all.list, Text(element))
	}
	return all
}
