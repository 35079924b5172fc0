package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
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

func sweep() subcommand {
	var yes, dryRun bool
	return subcommand{
		use:           "sweep",
		needsOperator: true, readsOnly: &dryRun,
		flags: func(c *cobra.Command) {
			c.Flags().BoolVar(&dryRun, "dry-run", false, "count the expired cells, and change nothing")
			c.Flags().BoolVar(&yes, "yes", false, "sweep without confirmation")
		},
		run: func(ctx context.Context, c *call) error {
			if dryRun {
				return c.sweep(ctx, c.RehearseSweep)
			}
			if !yes {
				prompt := ""
				if c.hasPerson() {
					due, err := c.RehearseSweep(ctx, nil)
					if err != nil {
						return err
					}
					prompt = "Overwrite " + swept(due) + "."
				}
				if err := c.confirm(ctx, false, prompt); err != nil {
					return err
				}
			}
			return c.sweep(ctx, c.Sweep)
		},
	}
}

// sweep calls the given function, which executes a sweep and returns its report. It prints the report even if the sweep
// has failed for some subjects.
func (c *call) sweep(
	ctx context.Context, run func(context.Context, func(domain.SweepReport)) (domain.SweepReport, error),
) error {
	progress := c.progress("subjects checked:", 0)
	report, err := run(ctx, func(r domain.SweepReport) { progress.set(r.Erased, 0) })
	progress.end()
	shown := c.out.show(report, func() { c.out.swept(report) })
	switch {
	case err == nil && (shown != nil || report.Unclear == 0):
		return shown
	case err == nil:
		return &Error{Code: ExitFindings, Text: "the expired cells of " + counted(report.Unclear, "subject") +
			" stay: they may belong to a new person with the same id"}
	case report.Failed == 0 && report.Skipped > 0 && errors.Is(err, domain.ErrSubject):
		return &Error{Code: ExitFindings, Text: explain(err).Text}
	}
	return failed(explain(err).Error() + "; " + counted(report.Failed, "subject") + " failed")
}

func swept(report domain.SweepReport) string {
	rows := int64(0)
	for _, n := range report.Rows {
		rows += n
	}
	return "retained cells of " + counted(report.Subjects, "subject") + ", in " + counted(rows, "row")
}

func (p *printer) swept(report domain.SweepReport) {
	p.line("Expired: " + swept(report) + ".")
	if len(report.Rows) == 0 {
		return
	}
	t := table{head: []string{"table", "rows"}}
	for _, name := range slices.Sorted(maps.Keys(report.Rows)) {
		t.rows = append(t.rows, []string{name, strconv.FormatInt(report.Rows[name], 10)})
	}
	p.table(t)
}
