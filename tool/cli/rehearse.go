package cli

import (
	"cmp"
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
	return subcommand{
		use:   "rehearse SUBJECT",
		short: "show the effect of an erasure without erasing",
		long: `Erases a subject in a transaction, rolls the transaction back, and shows the row
count of each step. It makes no change, records no audit event and adds no outbox
entry. If the database refuses the erasure, the result is a finding with the
constraint or trigger that refused it.

A row can have both retained columns and columns that the erasure anonymizes. Such a
row is counted under anonymize and under retain. The erasure changes a retained column
only in the rows whose retention period has ended: the result names such a column under
anonymize, with the note "where its duty is over".

The result has a hash of the subject with its refs, the erasure plan, the values that
are written, and the row counts. Pass the hash to erase --plan. The subject is then
erased only if all of these are the same as in the rehearsal.

The rows of a subject are locked during its rehearsal. On SQLite, no other process
can write during this time.`,
		example: `habeas rehearse 42
habeas rehearse 42 --ref supportdesk=c-17
habeas rehearse - < subjects.txt`,
		exits: exits{fine: "the erasure would succeed", findings: "the database would refuse the erasure"},
		args:  oneSubject,
		flags: func(c *cobra.Command) { refFlag(c, &refs) },
		run: func(ctx context.Context, c *call) error {
			people, err := c.subjects(refs...)
			if err != nil {
				return err
			}
			refused := 0
			for i, p := range people {
				if err := c.mustKnow(ctx, p); err != nil {
					return err
				}
				rehearsal, err := c.Rehearse(ctx, p.Subject)
				if err != nil {
					return afterSome(i, len(people), p, err)
				}
				if rehearsal.Refused != nil {
					refused++
				}
				if err := c.out.show(rehearsal, func() { c.out.rehearsal(rehearsal) }); err != nil {
					return err
				}
			}
			return findings(refused)
		},
	}
}

func refFlag(c *cobra.Command, refs *[]string) {
	c.Flags().StringArrayVar(refs, "ref", nil, "`system=id` of the subject in an external system; repeatable")
}

func (p *printer) rehearsal(r datamap.Rehearsal) {
	id := printable(formatID(r.SubjectID))
	if r.Refused != nil {
		p.line("The database would refuse to erase " + id + ".")
		p.line(refusal(*r.Refused))
		return
	}
	p.line("The erasure of " + id + " would change:")
	t := table{head: []string{"table", "step", "rows", "columns"}}
	for _, step := range r.Steps {
		columns := slices.Concat(step.Columns, step.ClearedColumns)
		if step.Strategy == domain.StrategyAnonymize { // in a retain step, Columns contains the columns of Expired
			for _, column := range step.Expired {
				columns = append(columns, column+" (where its duty is over)")
			}
		}
		t.rows = append(t.rows, []string{
			step.Target, string(step.Strategy), strconv.FormatInt(step.Rows, 10), strings.Join(columns, ", "),
		})
	}
	p.table(t)
	p.cascaded("The database would also delete or change", r.Cascaded)
	for _, system := range r.External {
		if system.Entries > 0 {
			p.line(printable(system.Resolver) + " would be called with " + counted(system.Entries, "outbox entry") + ".")
		}
	}
	p.line("Plan: " + r.Fingerprint)
}

// refusal returns the reason why the database refuses an erasure, in one line.
func refusal(r datamap.Refusal) string {
	text := strings.TrimPrefix(r.Message, "habeas: ")
	if r.Target != "" {
		text = "Step " + string(r.Strategy) + " of " + r.Target + ": " + text
	}
	return printable(oneLine(text))
}

// effectOf rehearses the erasure of a subject. It returns the effect of the erasure in one line, with row counts, and
// the fingerprint of the rehearsal. If the store cannot rehearse, effectOf returns only the erasure plan in one line.
// If the erasure would be refused, effectOf returns an error.
func (c *call) effectOf(ctx context.Context, p person) (text, fingerprint string, err error) {
	rehearsal, err := c.Rehearse(ctx, p.Subject)
	switch {
	case isMisconfigured(err): // a store that cannot rehearse
		return c.plan(), "", nil
	case err != nil:
		return "", "", err
	case rehearsal.Refused != nil:
		return "", "", failed("the erasure would be refused. " + refusal(*rehearsal.Refused) + "; nothing was changed")
	}
	counts := map[domain.Strategy][]string{}
	for _, step := range rehearsal.Steps {
		if step.Rows == 0 { // steps without rows are omitted
			continue
		}
		counts[step.Strategy] = append(counts[step.Strategy], strconv.FormatInt(step.Rows, 10)+" of "+step.Target)
	}
	var systems []string
	for _, system := range rehearsal.External {
		if system.Entries > 0 {
			systems = append(systems, system.Resolver)
		}
	}
	text = cmp.Or(strategies(counts), "change no row")
	if len(rehearsal.Cascaded) > 0 {
		text += "; the database also deletes or changes " + strings.Join(rowsOf(rehearsal.Cascaded), ", ")
	}
	if len(systems) > 0 {
		text += "; call " + strings.Join(systems, ", ")
	}
	return text, rehearsal.Fingerprint, nil
}

// plan returns the erasure plan in one line.
func (c *call) plan() string {
	targets := map[domain.Strategy][]string{}
	for _, step := range c.Plan().Local() {
		targets[step.Strategy] = append(targets[step.Strategy], "rows of "+step.Target)
	}
	return strategies(targets)
}

// strategies returns one line that lists the strategies of an erasure. The map texts has, for each strategy, one text
// per table. For example, the line is "delete 2 of parcels; retain 1 of invoices".
func strategies(texts map[domain.Strategy][]string) string {
	var parts []string
	for _, strategy := range []domain.Strategy{domain.StrategyDelete, domain.StrategyAnonymize, domain.StrategyRetain} {
		if len(texts[strategy]) > 0 {
			parts = append(parts, string(strategy)+" "+strings.Join(texts[strategy], ", "))
		}
	}
	return strings.Join(parts, "; ")
}
