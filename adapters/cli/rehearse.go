package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
)

func rehearse() verb {
	var refs []string
	return verb{
		use:   "rehearse SUBJECT",
		short: "show what the erasure of a subject would do",
		long: `Carries out the erasure of a subject in a transaction that is then rolled back, and
shows the rows of each step. It leaves nothing: no change, no event, no entry of
the outbox. An erasure that the database would refuse is a finding, with the
constraint or the trigger that is the reason.

The result has a hash of the plan and the counts. With erase --plan and this
hash, a subject is erased only if both are the same as in the rehearsal.

The rows of the subject are locked for as long as it takes. On SQLite, no other
process can write meanwhile.`,
		example: `habeas rehearse 42
habeas rehearse 42 --ref supportdesk=c-17
habeas rehearse - < subjects.txt`,
		exits: exits{fine: "the erasure would be carried out", findings: "the database would refuse the erasure"},
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

func (p *printer) rehearsal(r domain.Rehearsal) {
	id := printable(written(r.SubjectID))
	if r.Refused != nil {
		p.line("The database would refuse to erase " + id + ".")
		p.line(refusal(*r.Refused))
		return
	}
	p.line("To erase " + id + " would change:")
	t := table{head: []string{"table", "step", "rows", "columns"}}
	for _, step := range r.Steps {
		columns := append(append(append([]string{}, step.Columns...), step.Clears...), step.Expired...)
		t.rows = append(t.rows, []string{
			step.Target, string(step.Strategy), strconv.FormatInt(step.Rows, 10), strings.Join(columns, ", "),
		})
	}
	p.table(t)
	for _, system := range r.External {
		if system.Entries > 0 {
			p.line(printable(system.Resolver) + " would be told by " + counted(system.Entries, "entry") + ".")
		}
	}
	p.line("Plan: " + r.Fingerprint)
}

// refusal is the reason for which an erasure is refused, in one line.
func refusal(r domain.Refusal) string {
	text := strings.TrimPrefix(r.Message, "habeas: ")
	if r.Target != "" {
		text = "At the step " + string(r.Strategy) + " of " + r.Target + ": " + text
	}
	return printable(oneLine(text))
}

// intention is what an erasure would do, in one line: with the counts of a rehearsal, or else the plan. It returns the
// fingerprint of the rehearsal, too. A refusal is an error.
func (c *call) intention(ctx context.Context, p person) (text, fingerprint string, err error) {
	rehearsal, err := c.Rehearse(ctx, p.Subject)
	switch {
	case isMisconfigured(err): // a store that cannot rehearse
		return c.plan(), "", nil
	case err != nil:
		return "", "", err
	case rehearsal.Refused != nil:
		return "", "", failed("the database would refuse it. " + refusal(*rehearsal.Refused) + "; nothing was changed")
	}
	counts := map[domain.Strategy][]string{}
	for _, step := range rehearsal.Steps {
		counts[step.Strategy] = append(counts[step.Strategy], strconv.FormatInt(step.Rows, 10)+" of "+step.Target)
	}
	var systems []string
	for _, system := range rehearsal.External {
		if system.Entries > 0 {
			systems = append(systems, system.Resolver)
		}
	}
	text = strategies(counts)
	if len(systems) > 0 {
		text += "; tell " + strings.Join(systems, ", ")
	}
	return text, rehearsal.Fingerprint, nil
}

// plan is the plan in words.
func (c *call) plan() string {
	targets := map[domain.Strategy][]string{}
	for _, step := range c.Plan().Local() {
		targets[step.Strategy] = append(targets[step.Strategy], "rows of "+step.Target)
	}
	return strategies(targets)
}

// strategies lists what each strategy is about.
func strategies(about map[domain.Strategy][]string) string {
	var parts []string
	for _, strategy := range []domain.Strategy{domain.StrategyDelete, domain.StrategyAnonymize, domain.StrategyRetain} {
		if len(about[strategy]) > 0 {
			parts = append(parts, string(strategy)+" "+strings.Join(about[strategy], ", "))
		}
	}
	return strings.Join(parts, "; ")
}
