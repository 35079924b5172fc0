package triggers

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// variables are the variables in the code of a trigger, by their names in lower case.
type variables map[string]variable

// variable is a variable with the values that the code gives it.
type variable struct {
	value sqltext.Tokens // NEW and OLD in the values, each with its column
	set   []int          // the indexes of the assignments, those of the variables in the value included
}

// read adds the assignment to a variable at the index i of the code, if there is one. The statement starts at the index
// begin. There are these forms:
//
//   - variable := value, and variable = value at the begin of a statement
//   - variable type := value, and variable type DEFAULT value, in a declaration
//   - SELECT value, value INTO variable, variable
func (held variables) read(text sqltext.Tokens, begin, i int, table datamap.CatalogTable) {
	switch {
	case text.Is(begin, "new") || !text.IsName(begin):
	case text.IsSign(i, ":") && text.IsSign(i+1, "="), text.Is(i, "default"), i == begin+1 && text.IsSign(i, "="):
		held.add(text[begin].Text, text[i+1:text.EndOfStatement(i)], i)
	case text.Is(begin, "select") && text.Is(i, "into"):
		held.readSelect(text, begin, i, table)
	}
}

// readSelect adds the variables after the INTO at the index into. If the statement reads the table of the trigger, its
// columns count as those of OLD, because the row there is the stored one.
func (held variables) readSelect(text sqltext.Tokens, begin, into int, table datamap.CatalogTable) {
	end := text.EndOfStatement(into)
	at := into + 1
	if text.Is(at, "strict") {
		at++
	}
	var names []string
	for ; at < end && text.IsName(at); at++ {
		names = append(names, text[at].Text)
		if text.IsSign(at+1, ".") { // a column of the new row, which assignments reads
			names[len(names)-1], at = "", at+2
		}
		if at++; !text.IsSign(at, ",") {
			break
		}
	}
	values := text[begin+1 : into]
	if at < end && len(values.Until(0, "from")) == len(values) {
		values = slices.Concat(values, text[at:end]) // SELECT INTO variable value FROM table
	}
	reads := mentions(text[into:end], plainName(table)) || mentions(values, plainName(table))
	values = values.Until(0, "from")
	for from, i := 0, 0; i < len(names) && from < len(values); i++ {
		to := values.EndOfValue(from, len(values))
		value := slices.Clone(values[from:to])
		if _, isColumn := columnCalled(table, last(value)); reads && isColumn && !value.Has("new") {
			value = sqltext.Tokens{
				{Kind: sqltext.TokenWord, Text: "OLD"},
				{Kind: sqltext.TokenSign, Text: "."},
				{Kind: sqltext.TokenWord, Text: last(value)},
			}
		}
		held.add(names[i], value, into)
		from = to + 1
	}
}

func (held variables) add(name string, value sqltext.Tokens, at int) {
	value, set := held.in(value)
	before := held[strings.ToLower(name)]
	set = append(slices.Concat(before.set, set), at)
	slices.Sort(set)
	held[strings.ToLower(name)] = variable{rows(slices.Concat(before.value, value)), slices.Compact(set)}
}

// rows returns each NEW and OLD in a value once, with its column. A complete row is at the end, so that a column of a
// variable, as in row.email, follows it.
func rows(t sqltext.Tokens) (found sqltext.Tokens) {
	var rows sqltext.Tokens
	for i := range t {
		switch {
		case !t.Is(i, "new", "old") || t.IsSign(i-1, "."):
		case t.IsSign(i+1, ".") && i+2 < len(t):
			if read := t[i : i+3]; !contain(found, read) {
				found = append(found, read...)
			}
		case !contain(rows, t[i:i+1]):
			rows = append(rows, t[i])
		}
	}
	return append(found, rows...)
}

func contain(t sqltext.Tokens, part sqltext.Tokens) bool {
	for i := range t {
		if i+len(part) <= len(t) && slices.EqualFunc(t[i:i+len(part)], part, func(a, b sqltext.Token) bool {
			return a.Kind == b.Kind && strings.EqualFold(a.Text, b.Text)
		}) {
			return true
		}
	}
	return false
}

// in returns a value in which the values of the variables stand for the variables, and the indexes of the assignments
// to them.
func (held variables) in(value sqltext.Tokens) (whole sqltext.Tokens, set []int) {
	for i, token := range value {
		v, ok := held[strings.ToLower(token.Text)]
		if !ok || !value.IsName(i) || value.IsSign(i-1, ".") {
			whole = append(whole, token)
			continue
		}
		whole, set = append(whole, v.value...), append(set, v.set...)
	}
	return whole, set
}

// last returns the text of the last token, or "" if there is none.
func last(t sqltext.Tokens) string {
	if len(t) == 0 {
		return ""
	}
	return t[len(t)-1].Text
}
