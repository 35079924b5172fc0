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
		use: "status",
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
