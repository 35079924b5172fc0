package condition

import (
	"strconv"
	"strings"
)

// operand parses an operand of a comparison, such as a sum, a product or a concatenation. It returns an unknown value
// for operators that it does not evaluate, such as ->.
func (r *reader) operand() Value {
	value := r.product()
	for {
		switch {
		case r.sign("+"):
			value = calculate(value, r.product(), func(a, b float64) float64 { return a + b })
		case r.sign("-"):
			value = calculate(value, r.product(), func(a, b float64) float64 { return a - b })
		case r.sign("||"):
			value = concatenate(value, r.product())
		case r.isSign(0, "->", "->>", "#>", "#>>", "@>", "<@", "?", "?|", "?&", "&&", "@@", "&", "|", "#", "<<", ">>", "^",
			"^@", "-|-", "@?"):
			r.at++
			r.product()
			value = Value{}
		default:
			return value
		}
	}
}

func calculate(a, b Value, with func(a, b float64) float64) Value {
	if result, known := strict(a, b); known {
		return result
	}
	if a.kind == number && b.kind == number {
		return Number(with(a.number, b.number))
	}
	return Value{}
}

func concatenate(a, b Value) Value {
	if result, known := strict(a, b); known {
		return result
	}
	if a, b = a.asText(0), b.asText(0); a.kind == text && b.kind == text {
		return Text(a.text + b.text)
	}
	return Value{}
}

func (r *reader) product() Value {
	value := r.factor()
	for {
		switch {
		case r.sign("*"):
			value = calculate(value, r.factor(), func(a, b float64) float64 { return a * b })
		case r.sign("/", "%"): // the result depends on the types
			if result, known := strict(value, r.factor()); known {
				value = result
			} else {
				value = Value{}
			}
		default:
			return value
		}
	}
}

func (r *reader) factor() Value {
	switch {
	case r.sign("-"):
		return calculate(Number(0), r.factor(), func(a, b float64) float64 { return a - b })
	case r.sign("+"):
		return r.factor()
	}
	value := r.primary()
	for {
		switch {
		case r.sign("::"):
			value = r.cast(value)
		case r.word("collate"):
			r.name()
		case r.isWord(0, "at") && r.isWord(1, "time") && r.isWord(2, "zone"):
			r.at += 3
			r.factor()
			value = Value{}
		case r.sign("["):
			r.list("]")
			value = Value{}
		default:
			return value
		}
	}
}

// name consumes a name and returns its last part. For example, it returns total for orders.total.
func (r *reader) name() string {
	for {
		if r.at >= len(r.tokens) || r.tokens[r.at].kind != word && r.tokens[r.at].kind != quoted {
			r.fail()
			return ""
		}
		r.at++
		if !r.sign(".") {
			return r.tokens[r.at-1].text
		}
	}
}

// cast parses the name of a type and returns the value cast to this type.
func (r *reader) cast(value Value) Value {
	name := strings.ToLower(r.name())
	switch {
	case (name == "character" || name == "bit") && r.word("varying"), name == "double" && r.word("precision"):
		name += " " + strings.ToLower(r.tokens[r.at-1].text)
	}
	length := 0
	if r.sign("(") {
		sizes := r.list(")")
		if len(sizes) > 0 {
			length = int(sizes[0].number)
		}
	}
	if r.word("with", "without") && (!r.word("time") || !r.word("zone")) {
		return r.fail()
	}
	if name == "interval" { // the names of fields may follow, as in INTERVAL DAY
		for r.word("year", "month", "day", "hour", "minute", "second", "to") {
			continue
		}
	}
	isArray := false
	for r.sign("[") {
		r.list("]")
		isArray = true
	}
	if (name == "character" || name == "char") && length == 0 && !isArray {
		length = 1
	}
	return cast(value, name, length, isArray)
}

func (r *reader) primary() Value {
	if r.at >= len(r.tokens) {
		return r.fail()
	}
	switch t := r.tokens[r.at]; t.kind { //nolint:exhaustive // the others are words
	case literal:
		r.at++
		return Text(t.text)
	case numeral:
		r.at++
		n, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return r.fail()
		}
		return Number(n)
	case sign:
		if !r.sign("(") {
			return r.fail()
		}
		values := r.list(")")
		if len(values) == 1 {
			return values[0]
		}
		return Value{} // a row value, such as (a, b)
	default:
		return r.named(t)
	}
}
