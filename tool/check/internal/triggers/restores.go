package triggers

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// Written is what an UPDATE writes into a column. The zero value is any value except NULL.
type Written struct {
	Null    bool
	IsKnown bool   // whether Text is the value
	Text    string // the value as a text
}

// Restores reports whether a trigger surely gives a column its old value again whenever an UPDATE has written another
// value into it: NEW.column := OLD.column, COALESCE(OLD.column, NEW.column), or RETURN OLD, also in an IF. The old
// value is not NULL. It returns false if the code is not known, or if it depends on anything else.
func Restores(table datamap.CatalogTable, of datamap.CatalogTrigger, column string, to Written) bool {
	t := trigger{CatalogTrigger: of, table: table}
	t.readHeader(sqltext.TokensOf(of.Definition, sqltext.QuotesOfPostgres))
	table.Columns = slices.Clone(table.Columns)
	for i := range table.Columns {
		if strings.EqualFold(table.Columns[i].Name, column) {
			table.Columns[i].Nullable = to.Null
		}
	}
	at := change{table: table, column: column, to: &to}
	if table.FoldsCase || of.Language != "plpgsql" || !t.early || !slices.Contains(of.Events, "UPDATE") ||
		len(t.of) > 0 && !mentions(t.of, column) || at.enters(guard{conditions: t.when}) != yes {
		return false
	}
	text := sqltext.TokensOf(of.Code, sqltext.QuotesOfPostgres).Body()
	restored := false
	for i := range text {
		if changesOld(text, i) || returnsOther(text, i) {
			return false
		}
		value, sets := at.assigned(text, i)
		around, _ := guardsBefore(text, i)
		switch {
		case !sets, slices.ContainsFunc(around, func(g guard) bool { return at.enters(g) == notTrue }):
		case value != oldValue:
			restored = false
		case at.runsAt(text, i):
			restored = true
		}
	}
	return restored
}

// changesOld reports whether the code assigns a value to OLD or to a column of it at i.
func changesOld(text sqltext.Tokens, i int) bool {
	if !text.Is(i, "old") {
		return false
	}
	next := i + 1
	if text.IsSign(next, ".") {
		next += 2
	}
	return text.Is(i-1, "into", "strict") || text.IsSign(next, ":") && text.IsSign(next+1, "=") ||
		text.IsSign(next, "=") && beginsStatement(text, i)
}

// returnsOther reports whether the code returns another row than NEW and OLD at i.
func returnsOther(text sqltext.Tokens, i int) bool {
	return text.Is(i, "return") && !text.Is(i+1, "new", "old", "null", "coalesce")
}

// assigned returns the value that the changed column gets at i. The second result is false if it gets none there.
func (c change) assigned(text sqltext.Tokens, i int) (v value, sets bool) {
	switch {
	case text.Is(i, "return") && text.Is(i+1, "old") && text.IsSign(i+2, ";"):
		return oldValue, true
	case !text.Is(i, "new"):
		return unknown, false
	}
	next := i + 1
	if text.IsSign(next, ".") && next+1 < len(text) {
		if !strings.EqualFold(text[next+1].Text, c.column) {
			return unknown, false
		}
		next += 2
	}
	switch {
	case text.IsSign(next, ":") && text.IsSign(next+1, "="):
		return c.valueOf(text[next+2 : text.EndOfStatement(i)]), true
	case text.IsSign(next, "=") && beginsStatement(text, i):
		return c.valueOf(text[next+1 : text.EndOfStatement(i)]), true
	}
	return unknown, text.Is(i-1, "into", "strict")
}

// value is what an expression in the code of a trigger returns for a changed column.
type value int

const (
	unknown  value = iota
	oldValue       // the value before the UPDATE, which is not NULL
	newValue       // what the UPDATE writes, except NULL
	noValue        // NULL
)

// valueOf returns the value of an expression.
func (c change) valueOf(t sqltext.Tokens) value {
	if rest, ok := withoutBrackets(t); ok {
		return c.valueOf(rest)
	}
	row, columns, isRow := rowColumns(t)
	isOfColumn := isRow && len(columns) == 1 && (columns[0] == "*" || strings.EqualFold(columns[0], c.column))
	switch {
	case isOfColumn && row == "old":
		return oldValue
	case isOfColumn && c.to.Null, len(t) == 1 && t.Is(0, "null"):
		return noValue
	case isOfColumn:
		return newValue
	case t.Is(0, "case") && t.Is(1, "when") && t.Is(len(t)-1, "end"):
		return c.valueOfCase(t[2 : len(t)-1])
	case !t.Is(0, "coalesce", "nullif") || !t.IsSign(1, "(") || t.ClosingBracket(1) != len(t)-1:
		return unknown
	}
	arguments := listIn(t[2 : len(t)-1])
	if t.Is(0, "nullif") {
		return c.valueOfNullIf(arguments)
	}
	for _, argument := range arguments {
		if v := c.valueOf(argument); v != noValue {
			return v
		}
	}
	return noValue
}

// valueOfCase returns the value of CASE with a single condition. The tokens begin with the condition.
func (c change) valueOfCase(t sqltext.Tokens) value {
	condition := t.Until(0, "then")
	if t.Has("when") || len(condition) == len(t) {
		return unknown
	}
	first := t[len(condition)+1:].Until(0, "else")
	rest := t[len(condition)+1+len(first):]
	switch c.decide(condition) {
	case yes:
		return c.valueOf(first)
	case no, notTrue:
		if len(rest) == 0 {
			return noValue
		}
		return c.valueOf(rest[1:])
	case depends:
	}
	return unknown
}

// valueOfNullIf returns the value of NULLIF(new value, text).
func (c change) valueOfNullIf(arguments []sqltext.Tokens) value {
	if len(arguments) != 2 || len(arguments[1]) != 1 || arguments[1][0].Kind != sqltext.TokenString {
		return unknown
	}
	switch v := c.valueOf(arguments[0]); {
	case v == newValue && c.to.IsKnown && c.to.Text == arguments[1][0].Text:
		return noValue
	case v == newValue && !c.to.IsKnown, v == oldValue:
		return unknown
	default:
		return v
	}
}

// ofValue returns how a condition about the changed column itself turns out, such as NEW.column IS NULL, if it is known
// what the UPDATE writes. Otherwise, it returns depends.
func (c change) ofValue(condition sqltext.Tokens) verdict {
	if c.to == nil || len(condition) < 5 {
		return depends
	}
	row, columns, isRow := rowColumns(condition[:3])
	if !isRow || len(columns) != 1 || !strings.EqualFold(columns[0], c.column) {
		return depends
	}
	isOld, operator, last := row == "old", condition[3:len(condition)-1], condition[len(condition)-1]
	isNull := condition.Is(len(condition)-1, "null")
	switch {
	case isNull && len(operator) == 1 && operator.Is(0, "is"):
		return verdictOf(!isOld && c.to.Null)
	case isNull && len(operator) == 2 && operator.Is(0, "is") && operator.Is(1, "not"):
		return verdictOf(isOld || !c.to.Null)
	case isOld || !c.to.IsKnown || last.Kind != sqltext.TokenString:
		return depends
	case len(operator) == 1 && operator.IsSign(0, "="):
		return verdictOf(c.to.Text == last.Text)
	case len(operator) == 2 && operator.IsSign(0, "<", "!") && operator.IsSign(1, ">", "="):
		return verdictOf(c.to.Text != last.Text)
	}
	return depends
}
