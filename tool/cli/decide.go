package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Deciding has the parts of a program that the command decide needs.
type Deciding struct {
	// File returns the name of the file with the manifest.
	File func() (string, error)
	// Open opens the database of the application. If it returns nil, or an error, the command works without a database.
	Open func(ctx context.Context) (RowReader, error)
	// Operator is the Operator of Openers.
	Operator func() (string, error)
}

// RowReader reads the schema and some rows of a database for the dialogue of the command decide.
type RowReader interface {
	Catalog(ctx context.Context) (datamap.Catalog, error)
	// CountRows returns the number of rows of a table, at most the given number.
	CountRows(ctx context.Context, table string, most int) (int, error)
	// Examples returns up to most values of a column that are not NULL.
	Examples(ctx context.Context, table, column string, most int) ([]domain.PrivateValue, error)
}

// Decide returns a command that asks the questions of a manifest, and records the answers. The trees of New and Open do
// not contain this command, because only a manifest has questions.
func Decide(parts Deciding) *cobra.Command {
	return (&tree{openers: Openers{Operator: parts.Operator}}).command(decide(parts), "")
}

// decider has the flags and the parts of the command decide.
type decider struct {
	Deciding
	answering
	by, because, since string // of the flags
	retain             string
	columns            []string
	allLeft, bases     bool
}

func decide(parts Deciding) subcommand {
	d := decider{Deciding: parts}
	return subcommand{
		use:  "decide [TABLE=ANSWER...]",
		args: arguments{0, -1, "answers such as orders=delete"}, needs: nothing,
		flags: func(c *cobra.Command) {
			c.Flags().Var((*Text)(&d.because), "because", "`reason` of the answers")
			c.Flags().Var((*Text)(&d.by), "by", "`name` of the person who answers; the default is the operator")
			c.Flags().Var((*Text)(&d.retain), "retain", "how long an answer keeps values: a `period` such as 10y")
			c.Flags().Var((*Text)(&d.since), "since", "`column` with the begin of this period")
			c.Flags().StringArrayVar(&d.columns, "columns", nil,
				"answer about columns: `names=answer`, such as users.position,created_*=not-personal; repeatable")
			c.Flags().BoolVar(&d.allLeft, "all-left", false,
				"answer not-about-people where no name suggests personal data")
			c.Flags().BoolVar(&d.bases, "bases", false, "answer with purposes and legal bases instead")
		},
		run: d.run,
	}
}

// decided is the result of answers without a dialogue.
type decided struct {
	Answered []string `json:"answered"`
	Open     int      `json:"open"`
}

func (d *decider) run(ctx context.Context, c *call) error {
	path, err := d.File()
	if err != nil {
		return err
	}
	if d.answering, err = d.answers(c); err != nil {
		return err
	}
	file, err := readMapFile(path)
	if err != nil {
		return err
	}
	var rows RowReader
	if d.Open != nil {
		if opened, err := d.Open(ctx); err == nil {
			rows = opened
		}
	}
	if rows != nil {
		d.catalog, _ = rows.Catalog(ctx) // without a database, less is shown
	}
	switch {
	case len(c.args)+len(d.columns) > 0 || d.allLeft:
		return d.fromArguments(c, file)
	case c.hasPerson() && !c.out.json:
		return d.dialogue(ctx, c, path, rows)
	default:
		return c.list(file.dataMap)
	}
}

// answers returns what the flags say with each answer.
func (d *decider) answers(c *call) (a answering, err error) {
	a = answering{by: d.by, because: d.because, since: d.since}
	if a.by == "" {
		if a.by, err = c.operator(); err != nil {
			return a, err
		}
	}
	if d.retain != "" {
		if a.retain, err = datamap.ParsePeriod(d.retain); err != nil {
			return a, usage(c.command, "--retain must be a period such as 10y, 6m or 30d, of at most 100 years")
		}
	}
	return a, nil
}

// fromArguments answers questions with the arguments and flags, and writes the result if all answers are possible.
func (d *decider) fromArguments(c *call, file mapFile) error {
	result := decided{Answered: []string{}}
	type answerer func(m datamap.DataMap, name, word string) (datamap.DataMap, []string, error)
	each := func(argument string, answer answerer) error {
		name, word, ok := strings.Cut(argument, "=")
		if !ok || name == "" || word == "" {
			return usage(c.command, "an answer has the form TABLE=ANSWER, such as orders=delete")
		}
		next, answered, err := answer(file.dataMap, name, word)
		if err != nil {
			failure := explain(err)
			failure.Text += "; nothing was written"
			return failure
		}
		file.dataMap, result.Answered = next, append(result.Answered, answered...)
		return nil
	}
	rows := d.answerRows
	if d.bases {
		rows = d.answerBases
	}
	for _, argument := range c.args {
		if err := each(argument, rows); err != nil {
			return err
		}
	}
	for _, argument := range d.columns {
		err := each(argument, func(m datamap.DataMap, names, word string) (datamap.DataMap, []string, error) {
			return d.answerColumns(m, strings.Split(names, ","), word)
		})
		if err != nil {
			return err
		}
	}
	if d.allLeft {
		next, answered, err := d.answerLeft(file.dataMap)
		if err != nil {
			return err
		}
		file.dataMap, result.Answered = next, append(result.Answered, answered...)
	}
	if err := file.write(); err != nil {
		return err
	}
	result.Open = len(openOf(file.dataMap))
	return c.out.show(result, func() {
		c.out.indented("Answered: "+cmp.Or(strings.Join(result.Answered, ", "), "none")+".", "")
		c.out.line(counted(result.Open, "question") + " open.")
	})
}

// openOf returns the open questions of a data map.
func openOf(m datamap.DataMap) []datamap.Decision {
	return slices.DeleteFunc(slices.Clone(m.Decisions()), func(d datamap.Decision) bool { return !d.IsOpen() })
}

// list prints the open questions.
func (c *call) list(m datamap.DataMap) error {
	open := openOf(m)
	err := c.out.show(open, func() {
		c.out.line(counted(len(open), "question") + " open, " + counted(len(m.Decisions())-len(open), "answer") + ".")
		for _, question := range open {
			c.out.line("")
			c.out.question(m, question, datamap.CatalogTable{}, "")
		}
	})
	return errors.Join(err, findings(len(open)))
}

// answerBases writes a legal basis and a purpose to the columns that lack them, in the tables with a name or a pattern.
// The text has the form BASIS:PURPOSE.
func (answering) answerBases(m datamap.DataMap, pattern, text string) (datamap.DataMap, []string, error) {
	word, purpose, _ := strings.Cut(text, ":")
	basis, purpose := domain.LegalBasis(word), strings.TrimSpace(purpose)
	if !basis.Valid() || purpose == "" {
		return m, nil, failed(pattern + ": the form is TABLE=BASIS:PURPOSE. A basis is one of " + legalBases())
	}
	var answered []string
	tables := m.Declared()
	for i, table := range tables {
		if !matches(pattern, table.Name) || len(table.Personal()) == 0 {
			continue
		}
		answered = append(answered, table.Name)
		tables[i].Columns = slices.Clone(table.Columns)
		for j, column := range table.Columns {
			if column.Personal != nil {
				annotation := *column.Personal
				annotation.Basis = cmp.Or(annotation.Basis, basis)
				annotation.Purpose = cmp.Or(annotation.Purpose, purpose)
				tables[i].Columns[j].Personal = &annotation
			}
		}
	}
	if len(answered) == 0 {
		return m, nil, failed(pattern + ": no such table of the data map has personal data")
	}
	next, err := remade(m, tables, m.Decisions())
	return next, answered, err
}

func legalBases() string {
	var words []string
	for _, basis := range domain.LegalBases() {
		words = append(words, string(basis))
	}
	return strings.Join(words, ", ")
}

// bases asks for the legal basis and the purpose of each table that has none.
func (t *dialogue) bases(ctx context.Context) error {
	file, err := readMapFile(t.path)
	if err != nil {
		return err
	}
	introduced := false
	for _, table := range file.dataMap.Tables() {
		table, _ = file.dataMap.Table(table.Name)
		var without []string
		for _, column := range table.Personal() {
			if column.Personal.Basis == "" || column.Personal.Purpose == "" {
				without = append(without, column.Name)
			}
		}
		if len(without) == 0 {
			continue
		}
		if !introduced {
			t.out.line("")
			t.out.indented("Last, the legal basis and the purpose of each table, such as contract:delivery. *= before it "+
				"means all tables, Enter skips a table, q leaves. A basis is one of "+legalBases()+".", "")
			introduced = true
		}
		for {
			line, err := t.ask.ask(ctx, printable(table.Name+" ("+strings.Join(without, ", ")+")")+"> ")
			if err != nil || line == "q" {
				return err
			}
			if line == "" {
				break
			}
			pattern := table.Name
			if rest, isAll := strings.CutPrefix(line, "*="); isAll {
				pattern, line = "*", rest
			}
			next, _, err := t.answerBases(file.dataMap, pattern, line)
			if err == nil {
				file.dataMap = next
				if err := file.write(); err != nil {
					return err
				}
				break
			}
			t.out.indented(explain(err).Text, "  ")
		}
	}
	return nil
}
