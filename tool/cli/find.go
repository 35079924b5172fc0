package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/search"
)

func find() subcommand {
	allOwners := false
	return subcommand{
		use:  "find -",
		args: arguments{1, 1, "the argument - for the standard input"}, needs: onlyTables,
		flags: func(c *cobra.Command) {
			c.Flags().BoolVar(&allOwners, "all-owners", false, "also search the tables of roles that you do not trust")
		},
		run: func(ctx context.Context, c *call) error {
			if c.args[0] != fromStdin {
				return usage(c.command, "the only argument is -; pass values on the standard input")
			}
			var values []string
			var lines []int
			err := c.eachLine(func(n int, line string) error {
				if slices.Contains(values, line) {
					return nil
				}
				values, lines = append(values, line), append(lines, n)
				return search.CheckSearchValues([]string{line})
			})
			if err != nil {
				return err
			}
			if allOwners {
				ctx = search.OfAllOwners(ctx)
			}
			progress := c.progress("tables searched", 0)
			found, err := c.Find(ctx, values, func(p search.Progress) { progress.set(int64(p.Done), int64(p.Tables)) })
			progress.end()
			if err != nil {
				return err
			}
			if err := c.out.show(found, func() { c.out.found(found, lines) }); err != nil {
				return err
			}
			return findings(len(found.Occurrences) + len(found.Gaps))
		},
	}
}

// found prints the tables and columns in which a value was found. It prints no values. The parameter lines is the list
// of the values' line numbers on the standard input.
func (p *printer) found(found search.Result, lines []int) {
	result := "none"
	if len(found.Occurrences) > 0 {
		distinct := map[int]bool{}
		for _, o := range found.Occurrences {
			distinct[o.Value] = true
		}
		result = strconv.Itoa(len(distinct)) + " of them, in " + counted(len(found.Occurrences), "place")
	}
	p.line("Searched for " + counted(len(lines), "value") + ": found " + result + ".")
	if len(found.Occurrences) > 0 {
		t := table{head: []string{"line", "place", "rows"}}
		for _, o := range found.Occurrences {
			where := domain.Problem{Table: o.Table, Column: o.Column}.Where()
			t.rows = append(t.rows, []string{strconv.Itoa(lines[o.Value]), where, strconv.FormatInt(o.Rows, 10)})
		}
		p.table(t)
		p.notFound(found, lines)
	}
	if len(found.Gaps) > 0 {
		t := table{head: []string{"not searched", "reason"}}
		for _, gap := range found.Gaps {
			where := domain.Problem{Table: gap.Table, Column: gap.Column}.Where()
			t.rows = append(t.rows, []string{where, string(gap.Reason)})
		}
		p.table(t)
	}
	if len(found.Skipped) > 0 {
		views := 0
		for _, skipped := range found.Skipped {
			if skipped.Reason == search.SkippedView {
				views++
			}
		}
		p.line("Skipped: " + counted(views, "view") + ", and " + counted(len(found.Skipped)-views, "column") +
			" of times, truth values or enumerations.")
	}
}

// notFound names the lines of the values that were not found.
func (p *printer) notFound(found search.Result, lines []int) {
	var numbers []string
	for _, i := range found.NotFound {
		numbers = append(numbers, strconv.Itoa(lines[i]))
	}
	if len(numbers) > 0 {
		p.line("Not found: line " + strings.Join(numbers, ", ") + ".")
	}
}
