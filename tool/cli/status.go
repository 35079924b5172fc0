package cli

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/saga"
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
  lives-unknown       an erased id has a row, and nothing tells whether it
                      belongs to a new person or was restored
  worker-failing      the worker runs, and its batches fail
  worker-late         no worker has been alive for longer than 90 seconds
  journal-failing, journal-late
                      erasures are not written to the journal
  sweep-failing, sweep-late
                      cells are not overwritten after their retention
  sweep-left-over     the last sweep did not overwrite all due cells
  verification-failing, verification-late
                      erasures are not checked
  verification-left-over
                      erasures have left data behind

The findings of a duty (worker, journal, sweep, verification) come from the state
that the workers of all processes store. A duty fails if its last run failed. It
is late if no run has succeeded for twice its interval, but at least for its
interval and a minute.

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

func (p *printer) status(status saga.Status) {
	if status.Map != "" {
		p.line("Data map: " + status.Map)
	}
	p.line("At " + instant(status.At) + ": " + counted(len(status.Findings), "finding") + ".")
	if len(status.Findings) > 0 {
		p.line("")
		p.findings(status.Findings)
	}
	p.line("")
	p.counts(status)
	if len(status.Duties) > 0 {
		p.line("")
		p.duties(status)
	}
}

// duties shows the state of the background duties.
func (p *printer) duties(status saga.Status) {
	t := table{head: []string{"duty", "state", "last success", "last failure", "error", "left over"}}
	for _, duty := range status.Duties {
		t.rows = append(t.rows, []string{
			string(duty.Name), string(duty.State(status.At)), instantOr(duty.LastSuccess), instantOr(duty.LastFailure),
			cmp.Or(string(duty.LastError), "-"), strconv.FormatInt(duty.LeftOver, 10),
		})
	}
	p.table(t)
}

// instantOr formats an instant, or returns a dash if there is none.
func instantOr(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return instant(*at)
}

// findings prints findings, each with its table and column.
func (p *printer) findings(all []datamap.Finding) {
	for _, finding := range all {
		text := finding.Code
		if where := finding.Where(); where != "" {
			text += " " + where
		}
		if finding.Object != "" {
			text += " (" + finding.Object + ")"
		}
		p.line(p.paint(string(finding.Severity), string(finding.Severity)) + " " + printable(text))
		p.indented(finding.Reason+" "+finding.Remedy, "  ")
	}
}
