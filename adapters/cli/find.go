package cli

import (
	"context"
	"slices"
	"strconv"

	"github.com/habeas-data/habeas/domain"
)

func find() verb {
	return verb{
		use:   "find -",
		short: "look for values in the whole database",
		long: `Looks for the values on the lines of the standard input, such as an email address
or a phone number, in every text and JSON column of the database, those outside
of the data map included: the copies that were not annotated. The result names
tables and columns, and a value by its line. It never repeats a value. Upper and
lower case are the same.

It reads every table from beginning to end. Values are never arguments, so that
they stand in no history of a shell. A place that could not be searched is a
finding, too.`,
		example: `habeas find - < values.txt
echo zoe@example.org | habeas find - --output json`,
		exits: exits{
			fine: "no value was found", findings: "a value was found, or a place could not be searched",
		},
		args: arguments{1, 1, "the argument -, for the standard input"},
		run: func(ctx context.Context, c *call) error {
			if c.args[0] != fromStdin {
				return usage(c.command, "values come by the standard input only; the argument is -")
			}
			var values []string
			var lines []int
			err := c.eachLine(func(n int, line string) error {
				if slices.Contains(values, line) {
					return nil
				}
				values, lines = append(values, line), append(lines, n)
				return domain.CheckSought([]string{line})
			})
			if err != nil {
				return err
			}
			progress := c.progress("tables searched", 0)
			found, err := c.Find(ctx, values, func(p domain.FindProgress) { progress.to(int64(p.Done), int64(p.Tables)) })
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

// found shows where values were found. The lines are those of the values in the standard input.
func (p *printer) found(found domain.Found, lines []int) {
	p.line("Found " + counted(len(lines), "value") + " in " + counted(len(found.Occurrences), "place") + ".")
	if len(found.Occurrences) > 0 {
		t := table{head: []string{"line", "place", "rows"}}
		for _, o := range found.Occurrences {
			where := domain.Problem{Table: o.Table, Column: o.Column}.Where()
			t.rows = append(t.rows, []string{strconv.Itoa(lines[o.Value]), where, strconv.FormatInt(o.Rows, 10)})
		}
		p.table(t)
	}
	if len(found.Gaps) > 0 {
		t := table{head: []string{"not searched", "reason"}}
		for _, gap := range found.Gaps {
			where := domain.Problem{Table: gap.Table, Column: gap.Column}.Where()
			t.rows = append(t.rows, []string{where, string(gap.Reason)})
		}
		p.table(t)
	}
}
