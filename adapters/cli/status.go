package cli

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

func status() subcommand {
	return subcommand{
		use:   "status",
		short: "show problems that need a person",
		long: `Shows the problems that a person has to look into, and the open calls to external
systems. The findings are:

  migration-pending   the tables of habeas are not up to date
  outbox-abandoned    the worker gave entries up
  outbox-late         an entry is open for longer than a day (by default)
  outbox-stalled      an entry is due for longer than 15 minutes; no worker
                      runs, or the worker has stopped calling the system

Run the command in an hourly cron job that mails its output.`,
		example: `habeas status
habeas status --output json | jq -r '.findings[].code'`,
		exits: exits{fine: "there are no findings", findings: "there are findings"},
		run: func(ctx context.Context, c *call) error {
			status, err := c.Status(ctx)
			if err != nil {
				return err
			}
			if err := c.out.show(status, func() { c.out.status(status) }); err != nil {
				return err
			}
			return findings(len(status.Findings))
		},
	}
}

func (p *printer) status(status domain.Status) {
	p.line("At " + instant(status.At) + ": " + counted(len(status.Findings), "finding") + ".")
	if len(status.Findings) > 0 {
		p.line("")
		p.findings(status.Findings)
	}
	p.line("")
	p.counts(status)
}

// findings prints findings, each with its table and column.
func (p *printer) findings(all []domain.Finding) {
	t := table{head: []string{"severity", "finding"}}
	for _, finding := range all {
		text := finding.Code
		if where := finding.Where(); where != "" {
			text += " " + where
		}
		if finding.Object != "" {
			text += " (" + finding.Object + ")"
		}
		t.rows = append(t.rows, []string{string(finding.Severity), text + "\n" + finding.Reason + " " + finding.Remedy})
	}
	p.table(t)
}
