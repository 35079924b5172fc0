package live

import (
	"slices"
	"strings"
)

// variables are the variables in the code of a trigger, by their names in lower case.
type variables map[string]variable

// variable is a variable with the values that the code gives it.
type variable struct {
	value Tokens // NEW and OLD in the values, each with its column
	set   []int  // the indexes of the assignments, those of the variables in the value included
}

// read adds the assignment to a variable at the index i of the code, if there is one. The statement starts at the index
// begin. There are these forms:
//
//   - variable := value, and variable = value at the begin of a statement
//   - variable type := value, and variable type DEFAULT value, in a declaration
//   - SELECT value, value INTO variable, variable
func (held variables) read(text Tokens, begin, i int, table *Table) {
	switch {
	case text.Is(begin, "new") || !text.isName(begin):
	case text.IsSign(i, ":") && text.IsSign(i+1, "="), text.Is(i, "default"), i == begin+1 && text.IsSign(i, "="):
		held.add(text[begin].Text, text[i+1:text.endOfStatement(i)], i)
	case text.Is(begin, "select") && text.Is(i, "into"):
		held.readSelect(text, begin, i, table)
	}
}

// readSelect adds the variables after the INTO at the index into. If the statement reads the table of the trigger, its
// columns count as those of OLD, because the row there is the stored one.
func (held variables) readSelect(text Tokens, begin, into int, table *Table) {
	end := text.endOfStatement(into)
	at := into + 1
	if text.Is(at, "strict") {
		at++
	}
	var names []string
	for ; at < end && text.isName(at); at++ {
		names = append(names, text[at].Text)
		if text.IsSign(at+1, ".") { // a column of the new row, which addAssignmentsIn reads
			names[len(names)-1], at = "", at+2
		}
		if at++; !text.IsSign(at, ",") {
			break
		}
	}
	values := text[begin+1 : into]
	if at < end && len(values.until(0, "from")) == len(values) {
		values = slices.Concat(values, text[at:end]) // SELECT INTO variable value FROM table
	}
	reads := slices.ContainsFunc(text[into:end], func(t Token) bool { return sameTable(t.Text, table.Unnamed) }) ||
		values.mentions(table.Unnamed)
	values = values.until(0, "from")
	for from, i := 0, 0; i < len(names) && from < len(values); i++ {
		to := values.endOfValue(from, len(values))
		value := slices.Clone(values[from:to])
		if _, isColumn := table.columnCalled(value.last()); reads && isColumn && !value.has("new") {
			value = Tokens{{Kind: TokenWord, Text: "OLD"}, {Kind: TokenSign, Text: "."}, {Kind: TokenWord, Text: value.last()}}
		}
		held.add(names[i], value, into)
		from = to + 1
	}
}

func (held variables) add(name string, value Tokens, at int) {
	value, set := held.in(value)
	before := held[strings.ToLower(name)]
	set = append(slices.Concat(before.set, set), at)
	slices.Sort(set)
	held[strings.ToLower(name)] = variable{slices.Concat(before.value, value).rows(), slices.Compact(set)}
}

// rows returns each NEW and OLD in a value once, with its column. A complete row is at the end, so that a column of a
// variable, as in row.email, follows it.
func (t Tokens) rows() (found Tokens) {
	var rows Tokens
	for i := range t {
		switch {
		case !t.Is(i, "new", "old") || t.IsSign(i-1, "."):
		case t.IsSign(i+1, ".") && i+2 < len(t):
			if read := t[i : i+3]; !found.contain(read) {
				found = append(found, read...)
			}
		case !rows.contain(t[i : i+1]):
			rows = append(rows, t[i])
		}
	}
	return append(found, rows...)
}

func (t Tokens) contain(part Tokens) bool {
	for i := range t {
		if i+len(part) <= len(t) && slices.EqualFunc(t[i:i+len(part)], part, func(a, b Token) bool {
			return a.Kind == b.Kind && strings.EqualFold(a.Text, b.Text)
		}) {
			return true
		}
	}
	return false
}

// in returns a value in which the values of the variables stand for the variables, and the indexes of the assignments
// to them.
func (held variables) in(value Tokens) (whole Tokens, set []int) {
	for i, token := range value {
		v, ok := held[strings.ToLower(token.Text)]
		if !ok || !value.isName(i) || value.IsSign(i-1, ".") {
			whole = append(whole, token)
			continue
		}
		whole, set = append(whole, v.value...), append(set, v.set...)
	}
	return whole, set
}

// last returns the text of the last token, or "" if there is none.
func (t Tokens) last() string {
	if len(t) == 0 {
		return ""
	}
	return t[len(t)-1].Text
}
