package cli

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

func status() verb {
	return verb{
		use:   "status",
		short: "show what needs a person",
		long: `Shows on one screen what needs a person, and what external systems still have to
be told. Findings are:

  migration-pending   the tables of habeas are not up to date
  outbox-abandoned    entries were given up
  outbox-late         an entry is open for more than a day
  outbox-untaken      an entry is due for a quarter of an hour: no worker
                      runs, or it calls the system no more

A cron job that mails its output can call it every hour.`,
		example: `habeas status
habeas status --output json | jq -r '.findings[].code'`,
		exits: exits{fine: "nothing needs a person", findings: "there are findings"},
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

// findings shows findings with their places.
func (p *printer) findings(all []domain.Finding) {
	t := table{head: []string{"severity", "finding"}}
	for _, finding := range all {
		text := finding.Code
		if where := finding.Where(); where != "" {
			text += " " + where
		}
		t.rows = append(t.rows, []string{string(finding.Severity), text + "\n" + finding.Reason + " " + finding.Remedy})
	}
	p.table(t)
}
