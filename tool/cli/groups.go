package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
)

// pathsOf returns the columns by which the options of a question take the rows for those of the person.
func pathsOf(question datamap.Decision) (columns []string) {
	for _, option := range question.Options {
		for _, table := range option.Edit.Tables {
			for _, relation := range table.Relations {
				if column := list(relation.Columns); table.Name == question.Object && relation.Path &&
					!slices.Contains(columns, column) {
					columns = append(columns, column)
				}
			}
		}
	}
	slices.Sort(columns)
	return columns
}

// answerNoKeys records about columns that an open question about rows takes for possible keys that they hold none. The
// options that need one of the columns go.
func (a answering) answerNoKeys(m datamap.DataMap, isMeant func(object, column string) bool) (
	datamap.DataMap, []string, error,
) {
	var answered []string
	decisions := slices.Clone(m.Decisions())
	for i, question := range decisions {
		if !question.IsOpen() || len(question.Columns) > 0 {
			continue
		}
		columns := chosen(pathsOf(question), func(column string) bool {
			return !strings.Contains(column, "+") && isMeant(question.Object, column)
		})
		if len(columns) == 0 {
			continue
		}
		if named := chosen(columns, isKeyName); len(named) > 0 && strings.TrimSpace(a.because) == "" {
			return m, nil, failed("the answer needs a reason: say with --because why these are no keys: " +
				strings.Join(named, ", "))
		}
		option := datamap.Option{Name: notPersonal}
		for _, name := range columns {
			option.Edit.Columns = append(option.Edit.Columns, datamap.Column{
				Name: name, Type: typeOf(m, question, name), NotPersonal: true,
			})
			answered = append(answered, question.Object+"."+name)
		}
		decisions = append(decisions, datamap.Decision{
			Object: question.Object, Columns: columns, Seen: columns, Options: []datamap.Option{option},
			Question: "Do these columns hold keys of people?", Answer: notPersonal, By: a.by, Because: a.because,
		})
		decisions[i].Options = slices.DeleteFunc(slices.Clone(question.Options), func(o datamap.Option) bool {
			return slices.ContainsFunc(pathsOf(only(question, o)),
				func(path string) bool { return slices.Contains(columns, path) })
		})
	}
	next, err := remade(m, m.Declared(), decisions)
	return next, answered, err
}

// isNoKeys reports whether a decision is one of answerNoKeys.
func isNoKeys(d datamap.Decision) bool {
	return len(d.Options) == 1 && d.Options[0].Name == notPersonal
}

// isKeyName reports whether a column is named like the key of a person or of other rows.
func isKeyName(column string) bool {
	_, isKey := dictionary.Stem(column)
	return isKey || dictionary.Names(column)
}

// keys asks once for all tables which columns hold no keys, although they have the type of one.
func (t *dialogue) keys(ctx context.Context) error {
	file, err := readMapFile(t.path)
	if err != nil {
		return err
	}
	tables := map[string]int{}
	var names, shown []string
	for _, question := range openOf(file.dataMap) {
		for _, column := range pathsOf(question) {
			if tables[column]++; tables[column] == 1 && !isKeyName(column) && !strings.Contains(column, "+") {
				names = append(names, column)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		shown = append(shown, name+" ("+counted(tables[name], "table")+")")
	}
	t.out.line("")
	t.out.indented("These columns have the type of a person's key, but are not named like one: "+strings.Join(shown, ", ")+
		". Which of them never hold a key? * means all of them, Enter none.", "")
	for {
		line, err := t.ask.ask(ctx, "No keys, such as "+names[0]+": ")
		switch {
		case err != nil:
			return err
		case line == "q":
			return errLeft
		case line == "":
			return nil
		}
		patterns := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
		next, answered, err := t.answerNoKeys(file.dataMap, func(_, column string) bool {
			return slices.Contains(names, column) && matchesAny(patterns, column)
		})
		if err == nil && len(answered) > 0 {
			file.dataMap = next
			return file.write()
		}
		t.out.line("  The names must be among those above.")
	}
}

// similar offers the answer to a question about rows for the open questions that it may fit: those with the same effect
// by the same column, or, if the table is left out, with the same columns that may lead to people.
func (t *dialogue) similar(ctx context.Context, file mapFile, question datamap.Decision) error {
	a, option := t.answering, question.Answer
	a.because = question.Because
	if len(question.Columns) > 0 || len(retained(question, option)) > 0 {
		return nil
	}
	var alike []datamap.Decision // each with its answer
	effects := table{}
	for _, other := range openOf(file.dataMap) {
		if other.Answer = sameOption(question, other); other.Answer == "" {
			continue
		}
		alike = append(alike, other)
		chosen, _ := other.Option(other.Answer)
		effect := effectOf(file.dataMap, other, chosen)
		by := pathsOf(only(other, chosen))
		more := slices.DeleteFunc(pathsOf(other), func(path string) bool { return slices.Contains(by, path) })
		if len(more) > 0 && len(by) > 0 {
			effect += " (not by " + strings.Join(more, ", ") + ")"
		}
		effects.rows = append(effects.rows, []string{"", strconv.Itoa(len(alike)) + " " + other.Object, effect})
	}
	if len(alike) == 0 {
		return nil
	}
	t.out.line("")
	t.out.line("The same for " + counted(len(alike), "similar table") + "?")
	t.out.table(effects)
	line, err := t.ask.ask(ctx, "y for all, numbers or names for some, Enter for none: ")
	if err == nil && line == "q" {
		err = errLeft
	}
	if err != nil || line == "" {
		return err
	}
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	for i, other := range alike {
		if line != "y" && !slices.Contains(words, strconv.Itoa(i+1)) && !matchesAny(words, other.Object) {
			continue
		}
		at := slices.IndexFunc(file.dataMap.Decisions(), func(d datamap.Decision) bool {
			return d.Object == other.Object && len(d.Columns) == 0
		})
		next, err := a.answer(file.dataMap, at, other.Answer)
		if err != nil {
			t.out.indented(explain(refusedAnswer(other.Object, other.Answer, err)).Text, "  ")
			continue
		}
		file.dataMap = next
	}
	return file.write()
}

// only returns a question with one of its options.
func only(question datamap.Decision, option datamap.Option) datamap.Decision {
	question.Options = []datamap.Option{option}
	return question
}

// sameOption returns the option of another question that does the same as the answer to a question, or "".
func sameOption(question, other datamap.Decision) string {
	answer, _ := question.Option(question.Answer)
	kind, _, _ := strings.Cut(answer.Name, ":")
	for _, option := range other.Options {
		word, _, _ := strings.Cut(option.Name, ":")
		columns, others := pathsOf(only(question, answer)), pathsOf(only(other, option))
		if len(columns) == 0 {
			columns, others = pathsOf(question), pathsOf(other)
		}
		if len(other.Columns) == 0 && word == kind && slices.Equal(columns, others) {
			return option.Name
		}
	}
	return ""
}
