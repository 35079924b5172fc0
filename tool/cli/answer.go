package cli

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
	"github.com/habeas-data/habeas/tool/internal/facts"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// These are the answers that also apply to a table without a question.
const (
	notAboutPeople = "not-about-people"
	elsewhere      = "elsewhere" // the rows are about people, and something else erases them
	ofMap          = "map:"      // followed by the name of the data map that has the table
	notPersonal    = "not-personal"
)

// answering has what a person says with an answer.
type answering struct {
	by, because, since string
	retain             datamap.Period
	catalog            datamap.Catalog // without tables if the database is not read
}

// answer returns the data map after an answer to the question with the index at.
func (a answering) answer(m datamap.DataMap, at int, option string) (datamap.DataMap, error) {
	decisions := slices.Clone(m.Decisions())
	question := decisions[at]
	if strings.HasPrefix(option, ofMap) && len(question.Columns) == 0 {
		question.Options, question.Proposed = nil, "" // another data map answers what this one asks
	}
	if err := a.checkReason(m, question, option); err != nil {
		return m, err
	}
	tables := m.Declared()
	if len(question.Options) == 0 {
		tables = slices.DeleteFunc(tables, func(t datamap.Table) bool { return t.Name == question.Object })
	} else {
		edited, err := a.withDuty(question, option)
		if err == nil {
			tables, err = edited.Apply(tables, option)
		}
		if err != nil {
			return m, err
		}
	}
	question.Answer, question.By, question.Because = option, a.by, a.because
	decisions[at] = question
	for _, other := range decisions { // an edit of the rows replaces the table with its columns
		if len(question.Columns) == 0 && len(other.Columns) > 0 && other.Object == question.Object && !other.IsOpen() {
			tables, _ = other.Apply(tables, other.Answer) // an answer is one of the options
		}
	}
	return remade(m, tables, decisions)
}

// checkReason returns an error if the answer needs a reason that is missing.
func (a answering) checkReason(m datamap.DataMap, question datamap.Decision, option string) error {
	leavesOut := len(question.Options) == 0 || question.LeavesOut(option) || option == notPersonal
	personal := findPersonal(m, question)
	stay := staying(m, question, option)
	why := ""
	switch {
	case strings.TrimSpace(a.because) != "":
	case option == elsewhere:
		why = "by what the person's data is erased there"
	case len(question.Options) == 0:
		why = "why the table is left out"
	case leavesOut && len(personal) > 0:
		why = "why this is right, because its name suggests personal data: " + strings.Join(personal, ", ")
	case len(retained(question, option)) > 0:
		why = "the legal duty to keep the values"
	case len(stay) > 0:
		why = "why these columns stay as they are, whose names suggest personal data: " + strings.Join(stay, ", ")
	}
	if why == "" {
		return nil
	}
	return failed("the answer needs a reason: say with --because " + why)
}

// columnsOf returns the columns that a question is about, or else those of its table.
func columnsOf(question datamap.Decision) (columns []string) {
	if len(question.Columns) > 0 {
		return question.Columns
	}
	return slices.DeleteFunc(slices.Clone(question.Seen), func(seen string) bool { return strings.Contains(seen, arrow) })
}

// arrow stands in the text of a reference, see datamap.Decision.Seen.
const arrow = " -> "

// retained returns the columns that an option keeps, and whose duty a person has to state.
func retained(question datamap.Decision, option string) (columns []string) {
	chosen, _ := question.Option(option)
	for _, column := range editedColumns(question, chosen) {
		if p := column.Personal; p != nil && p.Strategy == domain.StrategyRetain && p.Reason == scaffold.ReasonNotStated {
			columns = append(columns, column.Name)
		}
	}
	return columns
}

// editedColumns returns the columns of the table of the question after the edit.
func editedColumns(question datamap.Decision, option datamap.Option) []datamap.Column {
	for _, table := range option.Edit.Tables {
		if table.Name == question.Object {
			return table.Columns
		}
	}
	return option.Edit.Columns
}

// staying returns the columns that are named like personal data, and that an answer about rows leaves as they are.
func staying(m datamap.DataMap, question datamap.Decision, option string) (columns []string) {
	chosen, _ := question.Option(option)
	for _, t := range chosen.Edit.Tables {
		if t.Name != question.Object || t.RowsDeleted() || t.Name == m.SubjectTable().Name {
			continue
		}
		for _, column := range t.Columns {
			_, known := dictionary.Column(column.Name, column.Type)
			if known && column.Personal == nil && !m.IsKey(t, column.Name) {
				columns = append(columns, column.Name)
			}
		}
	}
	return columns
}

// withDuty returns the question with the duty to keep values in the edit of an option.
func (a answering) withDuty(question datamap.Decision, option string) (datamap.Decision, error) {
	names := retained(question, option)
	if len(names) == 0 {
		if a.retain != (datamap.Period{}) || a.since != "" {
			return question, failed("--retain and --since are only for an answer that keeps values: " + option + " keeps none")
		}
		return question, nil
	}
	duty := func(columns []datamap.Column) []datamap.Column {
		columns = slices.Clone(columns)
		for i, column := range columns {
			if slices.Contains(names, column.Name) {
				kept := *column.Personal
				kept.Reason, kept.Retain, kept.Since = a.because, a.retain, a.since
				columns[i].Personal = &kept
			}
		}
		return columns
	}
	question.Options = slices.Clone(question.Options)
	i := slices.IndexFunc(question.Options, func(o datamap.Option) bool { return o.Name == option })
	edit := &question.Options[i].Edit
	edit.Columns, edit.Tables = duty(edit.Columns), slices.Clone(edit.Tables)
	for j, table := range edit.Tables {
		if table.Name == question.Object {
			edit.Tables[j].Columns = duty(table.Columns)
		}
	}
	return question, nil
}

// split returns the data map with a question of its own about some of the columns of the question with the index at.
func split(m datamap.DataMap, at int, columns []string) (datamap.DataMap, int) {
	asked := m.Decisions()[at]
	if len(columns) == len(asked.Columns) {
		return m, at
	}
	about := func(isAsked func(string) bool) datamap.Decision {
		part := asked
		part.Columns = slices.DeleteFunc(slices.Clone(asked.Columns), func(c string) bool { return !isAsked(c) })
		part.Options = slices.Clone(asked.Options)
		for i, option := range part.Options {
			part.Options[i].Edit.Columns = slices.DeleteFunc(slices.Clone(option.Edit.Columns),
				func(c datamap.Column) bool { return !isAsked(c.Name) })
		}
		return part
	}
	isChosen := func(name string) bool { return slices.Contains(columns, name) }
	parts := []datamap.Decision{about(isChosen), about(func(name string) bool { return !isChosen(name) })}
	decisions := slices.Concat(m.Decisions()[:at], parts, m.Decisions()[at+1:])
	m, _ = remade(m, m.Declared(), decisions) // the tables stay
	return m, at
}

// answerRows answers the questions about the rows of the tables with a name or a pattern. A name also changes an
// earlier answer. A pattern answers only open questions.
func (a answering) answerRows(m datamap.DataMap, pattern, option string) (datamap.DataMap, []string, error) {
	var objects []string
	for _, question := range m.Decisions() {
		isMeant := question.Object == pattern || question.IsOpen() && matches(pattern, question.Object)
		if len(question.Columns) == 0 && isMeant {
			objects = append(objects, question.Object)
		}
	}
	if slices.Contains(objects, pattern) { // a name, such as "legacy.*"
		objects = []string{pattern}
	}
	if len(objects) == 0 {
		m, err := a.leaveOut(m, pattern, option)
		return m, []string{pattern}, err
	}
	for _, object := range objects {
		at := slices.IndexFunc(m.Decisions(), func(d datamap.Decision) bool {
			return d.Object == object && len(d.Columns) == 0
		})
		next, err := a.answer(m, at, option)
		if err != nil {
			return m, nil, refusedAnswer(object, option, err)
		}
		m = next
	}
	return m, objects, nil
}

// leaveOut records that a table, or each table of a schema, stays out of the data map although there is no question
// about it.
func (a answering) leaveOut(m datamap.DataMap, object, option string) (datamap.DataMap, error) {
	isWord := option == elsewhere || option == notAboutPeople || strings.HasPrefix(option, ofMap)
	schema, isSchema := strings.CutSuffix(object, ".*")
	if !isWord || strings.ContainsAny(cmp.Or(schema, object), "*?[") {
		return m, failed(object + ": no open question is about it. habeas decide lists the questions")
	}
	decision := datamap.Decision{Object: object}
	if _, mapped := m.Table(object); mapped {
		return m, failed(object + ": it is in the data map, and no question is about it")
	}
	if !isSchema {
		table, ok := a.catalog.Table(object)
		if !ok {
			return m, failed(object + ": no question is about it, and the database has no such table, or is not named. " +
				"The command scaffold --update asks about new tables")
		}
		decision.Seen = facts.Seen(table)
	}
	at := len(m.Decisions())
	next, err := a.answer(m.WithDecisions(decision), at, option)
	if err != nil {
		return m, refusedAnswer(object, option, err)
	}
	return next, nil
}

// answerColumns answers the questions about columns with a name or a pattern, such as "created_*" or "users.position".
// It also declares columns as not personal that have no question and no annotation.
func (a answering) answerColumns(
	m datamap.DataMap, patterns []string, option string,
) (datamap.DataMap, []string, error) {
	var answered []string
	isMeant := func(object string) func(string) bool {
		return func(column string) bool {
			return matchesAny(patterns, column) || matchesAny(patterns, object+"."+column)
		}
	}
	for at := 0; at < len(m.Decisions()); at++ {
		question := m.Decisions()[at]
		some := chosen(question.Columns, isMeant(question.Object))
		isExact := slices.ContainsFunc(some, func(c string) bool { return slices.Contains(patterns, question.Object+"."+c) })
		if len(some) == 0 || !question.IsOpen() && !isExact {
			continue
		}
		parted, i := split(m, at, some)
		next, err := a.answer(parted, i, option)
		if err != nil {
			return m, nil, refusedAnswer(question.Object+" ("+strings.Join(some, ", ")+")", option, err)
		}
		m = next
		for _, column := range some {
			answered = append(answered, question.Object+"."+column)
		}
	}
	if option == notPersonal {
		next, noKeys, err := a.answerNoKeys(m, func(object, column string) bool {
			isExact := slices.Contains(patterns, column) || slices.Contains(patterns, object+"."+column)
			return isExact || !isKeyName(column) && isMeant(object)(column)
		})
		if err != nil {
			return m, nil, refusedAnswer(strings.Join(patterns, ","), option, err)
		}
		m, answered = next, append(answered, noKeys...)
		tables := m.Declared()
		for i, table := range tables {
			tables[i].Columns = slices.Clone(table.Columns)
			for j, column := range table.Columns {
				isDecided := column.Personal != nil || column.NotPersonal || m.IsKey(table, column.Name)
				if isDecided || !isMeant(table.Name)(column.Name) {
					continue
				}
				asked := datamap.Decision{
					Object: table.Name, Columns: []string{column.Name}, Options: []datamap.Option{{Name: option}},
				}
				if err := a.checkReason(m, asked, option); err != nil {
					return m, nil, refusedAnswer(table.Name+"."+column.Name, option, err)
				}
				tables[i].Columns[j].NotPersonal = true
				tables[i].Columns[j].Note = cmp.Or(a.because, column.Note)
				answered = append(answered, table.Name+"."+column.Name)
			}
		}
		next, err = remade(m, tables, m.Decisions())
		if err != nil {
			return m, nil, refusedAnswer(strings.Join(patterns, ","), option, err)
		}
		m = next
	}
	if len(answered) == 0 {
		return m, nil, failed(strings.Join(patterns, ",") + ": no open question is about such a column")
	}
	return m, answered, nil
}

// answerLeft leaves out each table whose question is open, if its name and its columns do not suggest personal data.
func (a answering) answerLeft(m datamap.DataMap) (datamap.DataMap, []string, error) {
	var answered []string
	for at, question := range m.Decisions() {
		_, isOffered := question.Option(notAboutPeople)
		if !question.IsOpen() || !isOffered || len(question.Columns) > 0 || len(findPersonal(m, question)) > 0 {
			continue
		}
		next, err := a.answer(m, at, notAboutPeople)
		if err != nil {
			return m, nil, refusedAnswer(question.Object, notAboutPeople, err)
		}
		m, answered = next, append(answered, question.Object)
	}
	return m, answered, nil
}

// matches reports whether a name is the pattern, or matches it: * stands for any characters.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return pattern == name || ok && err == nil
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

func chosen(all []string, isMeant func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !isMeant(name) })
}

// refusedAnswer returns the error of an answer with the question and the mistakes that the data map would have.
func refusedAnswer(object, option string, err error) error {
	failure := *explain(err)
	failure.Text = object + "=" + option + ": " + failure.Text
	if len(failure.problems) > 0 {
		failure.Text = object + "=" + option + " is not possible, because the data map would have " +
			counted(len(failure.problems), "mistake")
	}
	return &failure
}
