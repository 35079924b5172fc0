package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

const (
	mostCounted  = 10_000 // rows of a table
	mostExamples = 3      // values of a column
)

// errLeft is the error of a dialogue that the person leaves.
var errLeft = errors.New("left")

// dialogue is a conversation with a person about the questions of a manifest.
type dialogue struct {
	*decider
	out  *printer // the terminal
	ask  asker
	path string
	rows RowReader // nil without a database
}

// dialogue asks the open questions. It reads the file before each question, so that it keeps what others write.
func (d *decider) dialogue(ctx context.Context, c *call, path string, rows RowReader) error {
	screen := c.command.ErrOrStderr() // is a terminal, and the standard output may be a file
	talk := &dialogue{d, newPrinter(screen, formats[0]), newAsker(c.command.InOrStdin(), screen), path, rows}
	talk.out.indented("Answer with a number or a name, and the reason behind it. ? shows values, q leaves. Enter takes "+
		"the answer in brackets, or skips a question without one, as s does. Each answer is written at once.", "")
	err := error(nil)
	if !d.bases {
		err = talk.keys(ctx)
	}
	if err == nil && !d.bases {
		err = talk.questions(ctx)
	}
	if err == nil {
		err = talk.bases(ctx)
	}
	if err != nil && !errors.Is(err, errLeft) && !errors.Is(err, io.EOF) {
		return err
	}
	file, err := readMapFile(path)
	if err != nil {
		return err
	}
	open := len(openOf(file.dataMap))
	talk.out.line("")
	talk.out.line(counted(open, "question") + " open.")
	return findings(open)
}

func (t *dialogue) questions(ctx context.Context) error {
	var skipped []string
	for {
		file, err := readMapFile(t.path)
		if err != nil {
			return err
		}
		decisions := file.dataMap.Decisions()
		all := len(slices.DeleteFunc(slices.Clone(decisions), isNoKeys))
		at := slices.IndexFunc(decisions, func(d datamap.Decision) bool {
			return d.IsOpen() && !slices.Contains(skipped, titleOf(d))
		})
		if at < 0 {
			return nil
		}
		number := all - len(openOf(file.dataMap)) + len(skipped) + 1
		t.out.line("")
		t.show(ctx, file.dataMap, decisions[at], strconv.Itoa(number)+" of "+strconv.Itoa(all)+"  ")
		isDone, err := t.answerOne(ctx, file, at)
		if err != nil {
			return err
		}
		if !isDone {
			skipped = append(skipped, titleOf(decisions[at]))
		}
	}
}

// answerOne asks for the answer to a question until the data map accepts it. It returns false if the person skips it.
func (t *dialogue) answerOne(ctx context.Context, file mapFile, at int) (answered bool, err error) {
	question := file.dataMap.Decisions()[at]
	byEnter, prompt := proposedIn(file.dataMap, question), "> "
	if byEnter != "" {
		prompt = "[" + byEnter + "] > "
	}
	for {
		line, err := t.ask.ask(ctx, prompt)
		switch {
		case err != nil:
			return false, err
		case line == "q":
			return false, errLeft
		case line == "s", line == "" && byEnter == "":
			return false, nil
		case line == "?":
			t.examples(ctx, file.dataMap, question)
			continue
		}
		next, err := t.take(ctx, file.dataMap, at, cmp.Or(line, byEnter))
		if err == nil {
			file.dataMap = next
			if err := file.write(); err != nil {
				return true, err
			}
			return true, t.similar(ctx, file, next.Decisions()[at])
		}
		if ctx.Err() != nil || errors.Is(err, io.EOF) {
			return false, err
		}
		failure := explain(err)
		t.out.indented(failure.Text, "  ")
		t.out.problems(failure.problems)
	}
}

// proposedIn returns the answer that Enter gives: what the draft does with a column, or with the row of the person, and
// that a table is left out from whose rows no column seems to lead to people. All else must be written.
func proposedIn(m datamap.DataMap, question datamap.Decision) string {
	if len(question.Columns) > 0 || question.Object == m.SubjectTable().Name || len(pathsOf(question)) == 0 {
		return question.Proposed
	}
	return ""
}

// take returns the data map after the answer on a line: an option with a reason, or names of columns with an option.
func (t *dialogue) take(ctx context.Context, m datamap.DataMap, at int, line string) (datamap.DataMap, error) {
	question, a := m.Decisions()[at], t.answering
	if names, rest, ok := strings.Cut(line, "="); ok && len(question.Columns) > 1 {
		patterns := strings.Split(names, ",")
		some := chosen(question.Columns, func(column string) bool {
			return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, column) })
		})
		if len(some) == 0 {
			return m, failed("the question is not about such a column")
		}
		parted, i := split(m, at, some)
		return t.take(ctx, parted, i, rest)
	}
	option, reason := optionIn(question, line)
	if reason != "" {
		a.because = reason
	}
	if err := t.complete(ctx, m, question, option, &a); err != nil {
		return m, err
	}
	next, err := a.answer(m, at, option)
	if err != nil {
		return m, refusedAnswer(titleOf(question), option, err)
	}
	return next, nil
}

// optionIn returns the option and the reason on a line.
func optionIn(question datamap.Decision, line string) (option, reason string) {
	if _, ok := question.Option(line); ok {
		return line, ""
	}
	option, reason, _ = strings.Cut(line, " ")
	if i, err := strconv.Atoi(option); err == nil && i >= 1 && i <= len(question.Options) {
		option = question.Options[i-1].Name
	}
	return option, strings.TrimSpace(reason)
}

// complete asks for the period, the begin and the reason of an answer that needs them.
func (t *dialogue) complete(
	ctx context.Context, m datamap.DataMap, question datamap.Decision, option string, a *answering,
) error {
	if len(retained(question, option)) > 0 && a.retain == (datamap.Period{}) {
		period, err := t.ask.ask(ctx, "Kept how long (such as 10y; Enter: without end)? ")
		if err != nil {
			return err
		}
		if period != "" {
			if a.retain, err = datamap.ParsePeriod(period); err != nil {
				return err
			}
			if a.since, err = t.ask.ask(ctx, "Since the time in which column? "); err != nil {
				return err
			}
		}
	}
	_, known := question.Option(option)
	if missing := a.checkReason(m, question, option); known && missing != nil {
		t.out.indented(explain(missing).Text, "  ")
		var err error
		if a.because, err = t.ask.ask(ctx, "Because: "); err != nil {
			return err
		}
	}
	return nil
}

// titleOf returns the table of a question, with the columns that it is about.
func titleOf(question datamap.Decision) string {
	if len(question.Columns) == 0 {
		return question.Object
	}
	return question.Object + " (" + strings.Join(question.Columns, ", ") + ")"
}

// show prints a question with the number of rows.
func (t *dialogue) show(ctx context.Context, m datamap.DataMap, question datamap.Decision, progress string) {
	table, known := t.catalog.Table(question.Object)
	t.out.question(m, question, table, progress)
	if !known || t.rows == nil {
		return
	}
	switch n, err := t.rows.CountRows(ctx, question.Object, mostCounted); {
	case err != nil:
	case n == mostCounted:
		t.out.line("  " + strconv.Itoa(n) + " rows or more")
	default:
		t.out.line("  " + counted(n, "row"))
	}
}

// question prints a question with the columns of its table and the options.
func (p *printer) question(m datamap.DataMap, question datamap.Decision, live datamap.CatalogTable, progress string) {
	p.line(progress + p.paint("head", printable(titleOf(question))))
	p.indented(question.Question, "  ")
	columns := table{}
	for _, seen := range question.Seen {
		name, to, isReference := strings.Cut(seen, arrow)
		if len(question.Columns) > 0 && !slices.Contains(question.Columns, name) {
			continue
		}
		what := string(typeOf(m, question, name))
		if i := slices.IndexFunc(live.Columns, func(c datamap.CatalogColumn) bool { return c.Name == name }); i >= 0 {
			what = live.Columns[i].Declared
		}
		if isReference {
			what = "-> " + to
		}
		columns.rows = append(columns.rows, []string{"", name, what})
	}
	p.table(columns)
	options := table{}
	for i, option := range question.Options {
		says := effectOf(m, question, option)
		if option.Name == question.Proposed {
			says += " (as in the draft)"
		}
		options.rows = append(options.rows, []string{"", strconv.Itoa(i+1) + " " + option.Name, says})
	}
	p.table(options)
}

// effectOf returns the effect of an option on the table of the question.
func effectOf(m datamap.DataMap, question datamap.Decision, option datamap.Option) string {
	switch {
	case option.Name == elsewhere:
		return "left out: something else erases the rows"
	case question.LeavesOut(option.Name):
		return "left out: an erasure does not change the rows"
	case len(question.Columns) > 0:
		edited := datamap.Table{Columns: option.Edit.Columns}
		return cmp.Or(strings.Join(strategiesOf(edited), "; "), "stays: it is not personal data")
	}
	var parts, with []string
	for _, table := range option.Edit.Tables {
		if _, mapped := m.Table(table.Name); table.Name != question.Object && !mapped {
			with = append(with, table.Name)
		}
		if table.Name != question.Object {
			continue
		}
		for _, relation := range table.Relations {
			if relation.OnErasure == domain.StrategyNull {
				parts = append(parts, "set to NULL: "+list(relation.Columns))
			}
		}
		if table.RowsDeleted() {
			parts = append(parts, "her rows are deleted")
		} else {
			parts = append(parts, strategiesOf(table)...)
		}
	}
	if len(with) > 0 {
		parts = append(parts, "by way of "+strings.Join(with, ", "))
	}
	return cmp.Or(strings.Join(parts, "; "), "in the data map, unchanged")
}

// strategiesOf returns the columns of a table that an erasure overwrites, sets to NULL and keeps.
func strategiesOf(t datamap.Table) []string {
	names := map[domain.Strategy][]string{}
	for _, column := range t.Columns {
		if column.Personal != nil {
			strategy := column.Personal.Strategy
			if strategy == "" || strategy == domain.StrategyErase {
				strategy = domain.StrategyAnonymize
			}
			names[strategy] = append(names[strategy], column.Name)
		}
	}
	return effectLines(names[domain.StrategyAnonymize], names[domain.StrategyNull], names[domain.StrategyRetain])
}

// examples shows some values of each column on the terminal. The values of secrets are masked.
func (t *dialogue) examples(ctx context.Context, m datamap.DataMap, question datamap.Decision) {
	if t.rows == nil {
		t.out.line("  Values need a database: give its URL.")
		return
	}
	shown := table{}
	for _, name := range columnsOf(question) {
		row := []string{"", name}
		values, err := t.rows.Examples(ctx, question.Object, name, mostExamples)
		switch {
		case err != nil:
			row = append(row, "cannot be read")
		case len(values) == 0:
			row = append(row, "no values")
		case isSecret(name, typeOf(m, question, name)):
			row = append(row, masked)
		default:
			for _, value := range values {
				row = append(row, revealed(value))
			}
		}
		shown.rows = append(shown.rows, row)
	}
	t.out.table(shown)
}
