package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func rehearse() subcommand {
	var refs []string
	sample := 0
	return subcommand{
		use:  "rehearse SUBJECT",
		args: oneSubject,
		flags: func(c *cobra.Command) {
			refFlag(c, &refs)
			c.Flags().IntVar(&sample, "sample", 0, "also show this `number` of rows of each step; only on a terminal")
		},
		run: func(ctx context.Context, c *call) error {
			if c.command.Flags().Changed("sample") {
				if err := c.maySample(sample); err != nil {
					return err
				}
			}
			people, err := c.subjects(refs...)
			if err != nil {
				return err
			}
			refused := 0
			for i, p := range people {
				if err := c.mustKnow(ctx, p); err != nil {
					return err
				}
				rehearsal, err := c.rehearseOrPreview(ctx, p.Subject, sample)
				if err != nil {
					return afterSome(i, len(people), p, err)
				}
				if rehearsal.Refused != nil {
					refused++
				}
				if err := c.out.show(rehearsal, func() { c.out.rehearsal(c.DataMap(), rehearsal) }); err != nil {
					return err
				}
			}
			c.out.undecided(c.openQuestions())
			return findings(refused)
		},
	}
}

func refFlag(c *cobra.Command, refs *[]string) {
	c.Flags().StringArrayVar(refs, "ref", nil, "`system=id` of the subject in an external system; repeatable")
}

func (p *printer) rehearsal(m datamap.DataMap, r datamap.Rehearsal) {
	id := printable(formatID(r.SubjectID))
	if r.Refused != nil {
		p.line("The database would refuse to erase " + id + ".")
		p.line(refusal(*r.Refused))
		return
	}
	p.line("The erasure of " + id + " would change:")
	p.effects(m, r)
	p.line("Plan: " + r.Fingerprint)
}

// effects prints the steps of a rehearsal, and its calls of external systems.
func (p *printer) effects(m datamap.DataMap, r datamap.Rehearsal) {
	p.table(stepsOf(m, r))
	p.cascaded("The database would also delete or change", r.Cascaded)
	for _, system := range r.External {
		if system.Entries > 0 {
			p.line(printable(system.Resolver) + " would be called with " + counted(system.Entries, "outbox entry") + ".")
		}
	}
}

// stepsOf returns the table of the steps of a rehearsal, each with its path and its columns.
func stepsOf(m datamap.DataMap, r datamap.Rehearsal) table {
	t := table{head: []string{"table", "path", "step", "rows", "columns"}}
	for _, step := range r.Steps {
		var columns []string
		rows, _ := m.Table(step.Target)
		for _, name := range step.Columns {
			if column, _ := rows.Column(name); step.Strategy == domain.StrategyAnonymize && column.Personal != nil &&
				column.Personal.Strategy == domain.StrategyNull {
				name += " (NULL)"
			}
			columns = append(columns, name)
		}
		for _, name := range step.ClearedColumns {
			columns = append(columns, name+" (NULL)")
		}
		if step.Strategy == domain.StrategyAnonymize { // in a retain step, Columns contains the columns of Expired
			for _, column := range step.Expired {
				columns = append(columns, column+" (where its duty is over)")
			}
		}
		path, _ := m.PathVia(step.Target, step.Via)
		t.rows = append(t.rows, []string{
			step.Target, pathOf(step.Step, path), string(step.Strategy), strconv.FormatInt(step.Rows, 10),
			strings.Join(columns, ", "),
		})
	}
	return t
}

// refusal returns the reason why the database refuses an erasure, in one line.
func refusal(r datamap.Refusal) string {
	text := strings.TrimPrefix(r.Message, "habeas: ")
	if r.Target != "" {
		text = "Step " + string(r.Strategy) + " of " + r.Target + ": " + text
	}
	return printable(oneLine(text))
}

// showEffect rehearses the erasure of a subject, and writes its effect to the standard error for the prompt. It returns
// the fingerprint of the rehearsal, or "" if the store cannot rehearse. If the erasure would be refused, it returns an
// error.
func (c *call) showEffect(ctx context.Context, p person) (fingerprint string, err error) {
	rehearsal, err := c.Rehearse(ctx, p.Subject)
	out := newPrinter(c.command.ErrOrStderr(), formats[0])
	switch {
	case isMisconfigured(err): // a store that cannot rehearse
		out.line("The effect is not known, because the store cannot rehearse.")
		return "", nil
	case err != nil:
		return "", err
	case rehearsal.Refused != nil:
		return "", failed("the erasure would be refused. " + refusal(*rehearsal.Refused) + "; nothing was changed")
	}
	rehearsal.Steps = slices.DeleteFunc(rehearsal.Steps, func(s datamap.RehearsedStep) bool { return s.Rows == 0 })
	out.line("The erasure would change:")
	out.effects(c.DataMap(), rehearsal)
	return rehearsal.Fingerprint, nil
}
