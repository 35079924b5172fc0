package cli

import (
	"context"
	"slices"
	"strconv"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/search"
)

func find() subcommand {
	return subcommand{
		use:   "find -",
		short: "search the whole database for values",
		long: `Searches every column with texts, JSON or binary data for values, such as an email
address or a phone number. It also finds copies in base64 and hexadecimal digits.
The standard input has one value per line. The search
includes tables and columns that are not in the data map, so it also
finds copies of personal data in other places. It does not distinguish upper and
lower case. Of the tables of habeas, it searches only those of its own data map.

The result has the table, the column, the number of rows and the line number of each
value that was found. It never repeats a value. Line numbers begin at 1. The JSON
result has no line numbers: the member "value" is the index of the value in the list of
searched values. The index begins at 0, and does not count empty and repeated lines.

A table or column that could not be searched is also a finding.

The command reads every table completely. It takes no value as an argument,
because shells keep arguments in their history.`,
		example: `habeas find - < values.txt
echo zoe@example.org | habeas find - --output json`,
		exits: exits{
			fine: "no value was found", findings: "a value was found, or a column could not be searched",
		},
		args: arguments{1, 1, "the argument - for the standard input"}, needs: onlyTables,
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
