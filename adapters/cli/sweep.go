package cli

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
)

func sweep() verb {
	var yes, dryRun bool
	return verb{
		use:   "sweep",
		short: "anonymize what was retained and is due (Art. 5(1)(e) GDPR)",
		long: `Overwrites the retained cells of erased subjects whose duty to be retained is over.
Each subject is a transaction of its own, with its own events. A sweep that was
interrupted is called again, and finds what is left. A worker can do the same by
and by.

The verb asks for confirmation, or needs --yes. The question has the counts of
a dry run.`,
		example: `habeas sweep --dry-run
habeas sweep --operator retention-job --yes`,
		exits: exits{
			fine:   "everything that is due is overwritten, or was counted",
			failed: "the sweep ended early, or failed for a subject; the others are swept",
		},
		acts: true, unless: &dryRun,
		flags: func(c *cobra.Command) {
			c.Flags().BoolVar(&dryRun, "dry-run", false, "count what is due, and change nothing")
			c.Flags().BoolVar(&yes, "yes", false, "sweep without a confirmation")
		},
		run: func(ctx context.Context, c *call) error {
			if dryRun {
				return c.sweep(ctx, c.RehearseSweep)
			}
			if !yes {
				question := ""
				if c.hasPerson() {
					due, err := c.RehearseSweep(ctx, nil)
					if err != nil {
						return err
					}
					question = "Overwrite " + swept(due) + "."
				}
				if err := c.confirm(ctx, false, question); err != nil {
					return err
				}
			}
			return c.sweep(ctx, c.Sweep)
		},
	}
}

// sweep shows the report of a sweep, also of one that failed for a subject.
func (c *call) sweep(
	ctx context.Context, run func(context.Context, func(domain.SweepReport)) (domain.SweepReport, error),
) error {
	progress := c.progress("subjects looked at:", 0)
	report, err := run(ctx, func(r domain.SweepReport) { progress.to(r.Erased, 0) })
	progress.end()
	shown := c.out.show(report, func() { c.out.swept(report) })
	if err != nil {
		return failed(explain(err).Error() + "; " + counted(report.Failed, "subject") + " failed")
	}
	return shown
}

func swept(report domain.SweepReport) string {
	rows := int64(0)
	for _, n := range report.Rows {
		rows += n
	}
	return "retained cells of " + counted(report.Subjects, "subject") + ", in " + counted(rows, "row")
}

func (p *printer) swept(report domain.SweepReport) {
	p.line("Due were " + swept(report) + ".")
	if len(report.Rows) == 0 {
		return
	}
	t := table{head: []string{"table", "rows"}}
	for _, name := range slices.Sorted(maps.Keys(report.Rows)) {
		t.rows = append(t.rows, []string{name, strconv.FormatInt(report.Rows[name], 10)})
	}
	p.table(t)
}
