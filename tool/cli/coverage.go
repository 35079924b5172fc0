package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/tool/check"
)

func coverage() subcommand {
	failUnder := 0.0
	return subcommand{
		use: "coverage",
		flags: func(c *cobra.Command) {
			c.Flags().Float64Var(&failUnder, "fail-under", 0, "lowest `percent` of decided columns for which the exit code is 0")
		},
		run: func(ctx context.Context, c *call) error {
			if failUnder < 0 || failUnder > 100 || failUnder != failUnder { //nolint:gocritic // not a number
				return usage(c.command, "--fail-under must be a number from 0 to 100")
			}
			covered, err := check.Cover(ctx, c, c.DataMap(), c.Plan(), check.Options{
				Registers: c.Registers, Manifest: c.manifest,
			})
			if err != nil {
				return err
			}
			if err := c.out.show(covered, func() { c.out.coverage(covered) }); err != nil {
				return err
			}
			if covered.Percent < failUnder {
				return findings(1)
			}
			return nil
		},
	}
}

// coverage prints the numbers of columns, and the tables with undecided columns.
func (p *printer) coverage(all check.Coverage) {
	columns := all.Annotated + all.Excluded + all.Undecided
	p.line(counted(columns, "column") + " in " + counted(len(all.Tables), "table") + ": " +
		strconv.Itoa(all.Annotated) + " annotated, " + strconv.Itoa(all.Excluded) + " excluded, " +
		strconv.Itoa(all.Undecided) + " undecided. Decided: " + percent(all.Percent) + " %.")
	defer p.leftOut(all.LeftOut)
	if all.Undecided == 0 {
		return
	}
	t := table{head: []string{"table", "annotated", "excluded", "undecided", "undecided columns"}}
	for _, one := range all.Tables {
		name := one.Table
		if !one.Mapped {
			name += " (not in the data map)"
		}
		if len(one.Undecided) > 0 {
			t.rows = append(t.rows, []string{
				name, strconv.Itoa(one.Annotated), strconv.Itoa(one.Excluded), strconv.Itoa(len(one.Undecided)),
				strings.Join(one.Undecided, ", "),
			})
		}
	}
	p.table(t)
}

// percent formats a share with one decimal. It rounds down, so that only a complete coverage is 100.
func percent(share float64) string {
	return strconv.FormatFloat(float64(int(share*10))/10, 'f', 1, 64)
}
