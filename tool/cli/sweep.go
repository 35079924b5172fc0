package cli

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
)

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
