package triggers

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// effects returns the effects of the trigger's code.
func (t trigger) effects(text sqltext.Tokens) Effects {
	effects := Effects{Constant: constantWrites(text)}
	effects.Sets, effects.Renews = t.assignments(text)
	effects.Inserts, effects.Changes = inserts(text)
	effects.Keeps = keeps(text)
	effects.Refuses, effects.Skips = t.refusals(text)
	effects.RefusesTexts = t.refusedTexts(text)
	effects.RefusesChanges = t.refusedChanges(text)
	if !text.Has("perform") && !text.Has("call") {
		effects.Tied = tiedDeletions(text)
	}
	return effects
}

// refusals reports whether the code refuses the statement that fires the trigger, and whether it skips the row.
func (t trigger) refusals(text sqltext.Tokens) (refuses, skips datamap.Verdict) {
	isSQLite := t.table.FoldsCase
	add := func(effect *datamap.Verdict, i int) {
		around, exits := guardsBefore(text, i)
		isSure := len(t.when) == 0 && len(t.of) == 0 && len(exits) == 0 &&
			!slices.ContainsFunc(around, func(g guard) bool { return g.unknown || len(g.conditions)+len(g.denied) > 0 })
		if isSQLite {
			isSure = isSure && !text[i:text.EndOfStatement(i)].Has("where")
		}
		switch {
		case isSure:
			*effect = datamap.VerdictHolds
		case *effect == "":
			*effect = datamap.VerdictUndecided
		}
	}
	for i := range text {
		switch {
		case isSQLite && text.Is(i, "raise") && text.Is(i+2, "ignore"):
			add(&skips, i)
		case isSQLite && text.Is(i, "raise") && text.IsSign(i+1, "("),
			!isSQLite && raises(text, i):
			add(&refuses, i)
		case t.early && text.Is(i, "return") && text.Is(i+1, "null"):
			add(&skips, i)
		}
	}
	return refuses, skips
}

// raises reports whether the code of PostgreSQL raises an exception at i.
func raises(text sqltext.Tokens, i int) bool {
	return text.Is(i, "raise") && !text.IsSign(i+1, ";") && !text.Is(i+1, "notice", "warning", "info", "log", "debug")
}

// refusedChanges returns the columns whose values the trigger does not let change, as
// IF NEW.column <> OLD.column THEN RAISE ...; does.
func (t trigger) refusedChanges(text sqltext.Tokens) (columns []string) {
	table := t.table
	handles := false // exceptions
	for i := range text {
		handles = handles || text.Is(i, "exception") && !text.Is(i-1, "raise")
	}
	if handles || table.FoldsCase || !slices.Contains(t.Events, "UPDATE") {
		return nil
	}
	table.Columns = slices.Clone(table.Columns)
	for i := range table.Columns {
		table.Columns[i].Nullable = false // both values are no NULL
	}
	for _, column := range table.Columns {
		at := change{table: table, column: column.Name}
		if (len(t.of) == 0 || mentions(t.of, column.Name)) && at.enters(guard{conditions: t.when}) == yes {
			for i := range text {
				if raises(text, i) && at.runsAt(text, i) {
					columns = append(columns, column.Name)
					break
				}
			}
		}
	}
	return columns
}

// refusedTexts returns the texts that the trigger surely refuses in a column: IF NEW.column = 'text' THEN RAISE ...; .
func (t trigger) refusedTexts(text sqltext.Tokens) map[string]string {
	refused := map[string]string{}
	for i := range text {
		if text.Is(i, "exception") && !text.Is(i-1, "raise") {
			return nil // it may handle what the trigger raises
		}
		if !raises(text, i) || t.table.FoldsCase || len(t.when)+len(t.of) > 0 {
			continue
		}
		around, exits := guardsBefore(text, i)
		around = slices.DeleteFunc(around, func(g guard) bool { return !g.unknown && len(g.conditions)+len(g.denied) == 0 })
		if len(exits) > 0 || len(around) != 1 || around[0].unknown || len(around[0].denied) > 0 ||
			len(around[0].conditions) != 1 {
			continue
		}
		condition := around[0].conditions[0]
		if rest, ok := withoutBrackets(condition); ok {
			condition = rest
		}
		if len(condition) == 5 && condition.Is(0, "new") && condition.IsSign(1, ".") && condition.IsSign(3, "=") &&
			condition[4].Kind == sqltext.TokenString {
			refused[condition[2].Text] = condition[4].Text
		}
	}
	return refused
}

// tiedDeletions returns the tables from which the code deletes rows, each with the columns that all of these deletions
// compare with columns of OLD: DELETE FROM marks WHERE user_id = OLD.id AND ... .
func tiedDeletions(t sqltext.Tokens) map[string][]Tie {
	tied := map[string][]Tie{}
	for i := range t {
		if !t.Is(i, "from") || !t.Is(i-1, "delete") {
			continue
		}
		at := i + 1
		if t.Is(at, "only") {
			at++
		}
		name := t.NameAt(at)
		ties := tiesOf(t[at:t.EndOfStatement(i)], name)
		if before, known := tied[name]; known {
			ties = slices.DeleteFunc(ties, func(tie Tie) bool { return !slices.Contains(before, tie) })
		}
		tied[name] = ties
	}
	return tied
}

// tiesOf returns the columns that the condition of a DELETE compares with columns of OLD. The tokens begin with the
// name of the table. If the statement reads further tables (USING), a column counts only with its table before it.
func tiesOf(t sqltext.Tokens, table string) (ties []Tie) {
	where := t[len(t.Until(0, "where")):]
	if len(where) == 0 || len(where.Until(1, "or")) < len(where)-1 {
		return nil
	}
	target := t.Until(0, "using", "where")
	called := []string{table, last(target)} // the table and its alias
	for _, condition := range split(where[1:].Until(0, "returning"), "and") {
		for i := range condition {
			left, right := condition[:i], condition[min(i+1, len(condition)):]
			if !condition.IsSign(i, "=") {
				continue
			}
			if isOld(left) {
				left, right = right, left
			}
			isOfTable := len(left) == 3 && left.IsSign(1, ".") && slices.ContainsFunc(called, func(name string) bool {
				return strings.EqualFold(name, left[0].Text)
			})
			if isOld(right) && (isOfTable || len(left) == 1 && left.IsName(0) && !t.Has("using")) {
				ties = append(ties, Tie{strings.ToLower(last(left)), strings.ToLower(last(right))})
			}
		}
	}
	return ties
}

// isOld reports whether the tokens are a column of OLD.
func isOld(t sqltext.Tokens) bool { return len(t) == 3 && t.Is(0, "old") && t.IsSign(1, ".") }
