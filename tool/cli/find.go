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
		use:   "find -",
		short: "search the whole database for values",
		long: `Searches every column with texts, numbers, UUIDs, JSON or binary data for values, such
as an email address or a phone number. It also finds copies in base64 and hexadecimal
digits. The standard input has one value per line. The search
includes tables and columns that are not in the data map, so it also
finds copies of personal data in other places. It does not distinguish upper and
lower case. Of the tables of habeas, it searches only those of its own data map.

The result has the table, the column, the number of rows and the line number of each
value that was found, and the line numbers of the others. It never repeats a value. Line
numbers begin at 1. The JSON
result has no line numbers: the member "value" is the index of the value in the list of
searched values. The index begins at 0, and does not count empty and repeated lines.

A table or column that could not be searched is also a finding. On PostgreSQL, these
include the tables of database roles that you do not trust: such a role could make the
search run its code with your rights. Trusted are your role, the roles that an
administrator has granted to it, and superusers. The flag --all-owners searches all
tables. Views, and columns of times, truth values or enumerations, are skipped.

The command reads every table completely. It takes no value as an argument,
because shells keep arguments in their history.`,
		example: `habeas find - < values.txt
echo zoe@example.org | habeas find - --output json`,
		exits: exits{
			fine: "no value was found", findings: "a value was found, or a column could not be searched",
		},
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
