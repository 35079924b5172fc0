package live

import (
	"maps"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// addEffects adds what a trigger does with the statement that fires it, and with rows that it deletes. The routine of
// the trigger is the first of the routines that it runs.
func (l *reader) addEffects(table *Table, trigger *liveTrigger, runs []*routine) {
	quotes := l.own.quotes()
	if first := runs[0]; first.Language == "sql" || first.Language == "plpgsql" {
		text := TokensOf(first.Text, quotes).body()
		trigger.Refuses, trigger.Skips = trigger.effects(text, table.FoldsCase)
	}
	for _, run := range runs {
		for name, columns := range TokensOf(run.Text, quotes).tiedDeletions() {
			name = l.fullName(table, name)
			if before, known := trigger.Tied[name]; known {
				columns = slices.DeleteFunc(columns, func(c string) bool { return !slices.Contains(before, c) })
			}
			if trigger.Tied == nil {
				trigger.Tied = map[string][]string{}
			}
			trigger.Tied[name] = columns
		}
	}
	maps.DeleteFunc(trigger.Tied, func(_ string, columns []string) bool { return len(columns) == 0 })
	if len(trigger.Tied) == 0 {
		trigger.Tied = nil
	}
}

// effects reports whether the code of a trigger refuses the statement that fires it, and whether it skips the row.
func (trigger *liveTrigger) effects(text Tokens, isSQLite bool) (refuses, skips datamap.Verdict) {
	add := func(effect *datamap.Verdict, i int) {
		around, exits := text.guardsBefore(i)
		isSure := len(trigger.when) == 0 && len(trigger.of) == 0 && len(exits) == 0 &&
			!slices.ContainsFunc(around, func(g guard) bool { return g.unknown || len(g.conditions)+len(g.denied) > 0 })
		if isSQLite {
			isSure = isSure && !text[i:text.endOfStatement(i)].has("where")
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
			!isSQLite && text.Is(i, "raise") && !text.IsSign(i+1, ";") &&
				!text.Is(i+1, "notice", "warning", "info", "log", "debug"):
			add(&refuses, i)
		case trigger.early && text.Is(i, "return") && text.Is(i+1, "null"):
			add(&skips, i)
		}
	}
	return refuses, skips
}

// tiedDeletions returns the tables from which the code deletes rows, each with the columns that all of these deletions
// compare with the column of the same name in OLD: DELETE FROM marks WHERE user_id = OLD.user_id AND ... .
func (t Tokens) tiedDeletions() map[string][]string {
	tied := map[string][]string{}
	for i := range t {
		if !t.Is(i, "from") || !t.Is(i-1, "delete") {
			continue
		}
		at := i + 1
		if t.Is(at, "only") {
			at++
		}
		name := t.NameAt(at)
		columns := t[i:t.endOfStatement(i)].tiedColumns()
		if before, known := tied[name]; known {
			columns = slices.DeleteFunc(columns, func(c string) bool { return !slices.Contains(before, c) })
		}
		tied[name] = columns
	}
	return tied
}

// tiedColumns returns the columns that the condition of a DELETE compares with the columns of the same names in OLD.
func (t Tokens) tiedColumns() (columns []string) {
	where := t[len(t.until(0, "where")):]
	if len(where) == 0 || t.has("using") || len(where.until(1, "or")) < len(where)-1 {
		return nil
	}
	for _, condition := range where[1:].until(0, "returning").split("and") {
		for i := range condition {
			left, right := condition[:i], condition[min(i+1, len(condition)):]
			if condition.IsSign(i, "=") && (left.isOwn(right) || right.isOwn(left)) && !condition.has("new") {
				columns = append(columns, strings.ToLower(left.last()))
			}
		}
	}
	return columns
}
