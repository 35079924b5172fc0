package triggers

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// verdict tells how a condition of a trigger turns out whenever an UPDATE changes a certain column.
type verdict int

const (
	depends verdict = iota // not known
	yes
	no
	notTrue // false or NULL
)

func not(v verdict) verdict { return map[verdict]verdict{yes: no, no: yes}[v] }

// guard is a part of the code that runs only if conditions hold, such as a branch of IF. A guard without conditions
// always runs.
type guard struct {
	conditions []sqltext.Tokens
	denied     []sqltext.Tokens // conditions that must not hold: those of the branches before
	unknown    bool             // a loop, a CASE, or a handler of exceptions
}

// change is an UPDATE that changes a column of the trigger's table. Without the column, it is an UPDATE that may change
// only some columns.
type change struct {
	table  datamap.CatalogTable
	column string
	some   []string
	to     *Written // what it writes into the column; nil if it is not known
}

// runsAt reports whether the change surely runs the code at i: no condition around the code and no RETURN before it
// prevents this.
func (c change) runsAt(text sqltext.Tokens, i int) bool {
	around, exits := guardsBefore(text, i)
	return !slices.ContainsFunc(around, func(g guard) bool { return c.enters(g) != yes }) &&
		!slices.ContainsFunc(exits, func(exit []guard) bool {
			return !slices.ContainsFunc(exit, func(g guard) bool { return c.enters(g) == notTrue })
		})
}

// enters returns yes if the change surely runs the guarded code, and notTrue if it surely does not.
func (c change) enters(g guard) verdict {
	met := c.all(g.conditions, func(v verdict) verdict { return v })
	denied := c.all(g.denied, func(v verdict) verdict {
		if v == notTrue {
			return yes
		}
		return not(v)
	})
	switch {
	case met == no, met == notTrue, denied == no:
		return notTrue
	case g.unknown, met == depends, denied == depends:
		return depends
	}
	return yes
}

// guardsBefore returns the guards around the token at i, and those of each RETURN before it.
func guardsBefore(t sqltext.Tokens, i int) (around []guard, exits [][]guard) {
	top := func() *guard {
		if len(around) == 0 {
			return &guard{}
		}
		return &around[len(around)-1]
	}
	for at := range t[:i] {
		switch {
		case t.Is(at, "if") && !t.Is(at-1, "end"):
			around = append(around, guard{conditions: []sqltext.Tokens{t.Until(at+1, "then")}})
		case t.Is(at, "elsif", "elseif"):
			branch := top()
			branch.denied = append(branch.denied, branch.conditions...)
			branch.conditions = []sqltext.Tokens{t.Until(at+1, "then")}
		case t.Is(at, "else"):
			branch := top()
			branch.denied, branch.conditions = append(branch.denied, branch.conditions...), nil
		case t.Is(at, "begin"):
			around = append(around, guard{})
		case t.Is(at, "case", "loop") && !t.Is(at-1, "end"):
			around = append(around, guard{unknown: true})
		case t.Is(at, "exception") && !t.Is(at-1, "raise"):
			top().unknown = true
		case t.Is(at, "end") && len(around) > 0:
			around = around[:len(around)-1]
		case t.Is(at, "return"):
			exits = append(exits, slices.Clone(around))
		}
	}
	return around, exits
}

// decide returns how a condition turns out. It knows comparisons of NEW with OLD, the operation of the trigger
// (TG_OP), the depth of triggers, and the key of the row.
func (c change) decide(condition sqltext.Tokens) verdict {
	if rest, ok := withoutBrackets(condition); ok {
		return c.decide(rest)
	}
	if parts := split(condition, "or"); len(parts) > 1 {
		if !slices.ContainsFunc(parts, func(part sqltext.Tokens) bool {
			v := c.decide(part)
			return v != no && v != notTrue
		}) {
			return notTrue
		}
		return not(c.all(parts, func(v verdict) verdict {
			if v == notTrue {
				return depends
			}
			return not(v)
		}))
	}
	if parts := split(condition, "and"); len(parts) > 1 {
		return c.all(parts, func(v verdict) verdict { return v })
	}
	if condition.Is(0, "not") {
		return not(c.decide(condition[1:]))
	}
	if v := c.ofValue(condition); v != depends {
		return v
	}
	return c.compare(condition)
}

// all returns the verdict of the conditions joined with AND, after turn has changed the verdict of each.
func (c change) all(conditions []sqltext.Tokens, turn func(verdict) verdict) verdict {
	all := yes
	for _, condition := range conditions {
		v := turn(c.decide(condition))
		if v == no || v == notTrue {
			return v
		}
		if v == depends {
			all = depends
		}
	}
	return all
}

// withoutBrackets returns the tokens in brackets if these enclose all of them.
func withoutBrackets(t sqltext.Tokens) (sqltext.Tokens, bool) {
	if t.IsSign(0, "(") && t.ClosingBracket(0) == len(t)-1 {
		return t[1 : len(t)-1], true
	}
	return nil, false
}

// split splits the tokens at a keyword outside brackets.
func split(t sqltext.Tokens, keyword string) (parts []sqltext.Tokens) {
	for {
		part := t.Until(0, keyword)
		parts = append(parts, part)
		if len(part) == len(t) {
			return parts
		}
		t = t[len(part)+1:]
	}
}

// compare returns how a comparison turns out.
func (c change) compare(text sqltext.Tokens) verdict {
	for i := range text {
		left, negated := text[:i], false
		switch {
		case text.Is(i, "is") && text.Is(i+1, "not") && text.Is(i+2, "distinct"):
			return c.differs(left, text[i+4:], no)
		case text.Is(i, "is") && text.Is(i+1, "distinct"):
			return c.differs(left, text[i+3:], yes)
		case text.Is(i, "is") && text.Is(i+1, "not"): // SQLite
			return c.differs(left, text[i+2:], yes)
		case text.Is(i, "is"):
			return c.differs(left, text[i+1:], no)
		case text.Is(i, "in") && isOperation(left):
			return verdictOf(slices.ContainsFunc(text[i:], isUpdate))
		case text.IsSign(i, "<", "!") && text.IsSign(i+1, ">", "="):
			negated = true
		case text.IsSign(i, "<", ">"):
			return depthIs(left, verdictOf(text.IsSign(i, "<")))
		case !text.IsSign(i, "="):
			continue
		}
		right := text[i+1:]
		if negated {
			right = text[i+2:]
		}
		if isOperation(left) && len(right) > 0 {
			return verdictOf(isUpdate(right[0]) != negated)
		}
		if len(right) == 1 && right[0].Text == "0" {
			return depthIs(left, verdictOf(!negated))
		}
		return c.equals(left, right, negated)
	}
	return depends
}

func verdictOf(holds bool) verdict {
	if holds {
		return yes
	}
	return no
}

func isUpdate(t sqltext.Token) bool { return t.Kind == sqltext.TokenString && t.Text == "UPDATE" }

// isOperation reports whether the tokens are the operation that fires the trigger.
func isOperation(t sqltext.Tokens) bool { return len(t) == 1 && t.Is(0, "tg_op") }

// depthIs returns the verdict if the tokens are the number of triggers that are running before the statement's own,
// which is 0 for a statement of an erasure.
func depthIs(t sqltext.Tokens, v verdict) verdict {
	if len(t) > 2 && t.Is(len(t)-3, "pg_trigger_depth") {
		return v
	}
	return depends
}

// equals returns the verdict of = or, if negated, of <>. With these operators, NULL differs from nothing.
func (c change) equals(left, right sqltext.Tokens, negated bool) verdict {
	if !negated && (isOwn(left, right) || isOwn(right, left)) {
		return yes
	}
	v := c.differs(left, right, verdictOf(negated))
	if c.column == "" {
		return map[verdict]verdict{no: notTrue}[v] // both may be NULL
	}
	if column, ok := c.table.Column(c.column); v == depends || ok && !column.Nullable {
		return v
	}
	if negated {
		return depends
	}
	return notTrue
}

// isOwn reports whether the tokens are a column without a prefix or with that of the table, and the other tokens the
// same column of NEW or OLD. This finds the trigger's own row.
func isOwn(t sqltext.Tokens, other sqltext.Tokens) bool {
	name := t
	if len(t) == 3 && t.IsSign(1, ".") && !t.Is(0, "new", "old") {
		name = t[2:]
	}
	return len(name) == 1 && len(other) == 3 && other.Is(0, "new", "old") && other.IsSign(1, ".") &&
		strings.EqualFold(name[0].Text, other[2].Text)
}

// differs returns the verdict if the sides are the same columns of NEW and OLD, or the complete rows, and the changed
// column is among them. Without a changed column, it returns the other verdict if none of the columns may change.
func (c change) differs(left, right sqltext.Tokens, v verdict) verdict {
	of, first, ok := rowColumns(left)
	with, second, same := rowColumns(right)
	if !ok || !same || of == with || !slices.EqualFunc(first, second, strings.EqualFold) {
		return depends
	}
	if c.column == "" {
		if slices.ContainsFunc(first, func(name string) bool { return name == "*" || containsFold(c.some, name) }) {
			return depends
		}
		return not(v)
	}
	if slices.ContainsFunc(first, func(name string) bool { return name == "*" || strings.EqualFold(name, c.column) }) {
		return v
	}
	return depends
}

// rowColumns returns the row, new or old, and its columns if the tokens are nothing else, except casts and brackets.
// The columns are "*" for the complete row.
func rowColumns(t sqltext.Tokens) (row string, columns []string, ok bool) {
	for i := 0; i < len(t); i++ {
		switch {
		case t.Is(i, "new", "old"):
			if of := strings.ToLower(t[i].Text); row == "" || row == of {
				row = of
			} else {
				return "", nil, false
			}
			name := "*"
			if t.IsSign(i+1, ".") && i+2 < len(t) {
				i += 2
				name = t[i].Text
			}
			columns = append(columns, name)
		case t.IsSign(i, ":") && t.IsSign(i+1, ":"):
			for i += 2; i+1 < len(t) && t[i+1].Kind == sqltext.TokenWord; i++ {
			}
		case !t.IsSign(i, "(", ")", ",") && !t.Is(i, "row"):
			return "", nil, false
		}
	}
	return row, columns, len(columns) > 0
}
