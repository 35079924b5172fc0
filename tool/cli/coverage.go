package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check"
	"github.com/habeas-data/habeas/tool/internal/facts"
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

// undecided returns the questions without an answer, and the tables about which nobody has decided. If the catalog
// cannot be read, it returns the questions only.
func (c *call) undecided(ctx context.Context) []string {
	m, places := c.DataMap(), c.openQuestions()
	catalog, err := c.Catalog(ctx)
	if err != nil {
		return places
	}
	subject := m.SubjectTable()
	read := facts.Read(catalog, subject.Name, subject.SubjectKey)
	for _, live := range catalog.Tables {
		isDecided := slices.ContainsFunc(m.Declared(), func(t datamap.Table) bool { return live.IsCalled(t.Name) }) ||
			slices.ContainsFunc(m.Decisions(), func(d datamap.Decision) bool { return d.Covers(live) })
		isTable := live.Kind == datamap.KindTable || live.Kind == datamap.KindPartitioned || live.Kind == datamap.KindForeign
		if isTable && !isDecided && !read.Exempt(live) && !read.Harmless(live) {
			places = append(places, live.Name)
		}
	}
	return places
}

// openQuestions returns the questions of the data map without an answer.
func (c *call) openQuestions() (places []string) {
	for _, question := range openOf(c.DataMap()) {
		places = append(places, titleOf(question))
	}
	return places
}

// undecided prints what nobody has decided, so that nobody takes no findings for no data.
func (p *printer) undecided(places []string) {
	if len(places) > 0 && !p.json {
		p.indented("Nobody has decided about: "+strings.Join(places, ", ")+
			". The command lint says more, and the command decide asks.", "")
	}
}

// leftOut prints which tables stay out of the data map because a person has decided so, so that nobody takes no
// findings for no data.
func (p *printer) leftOut(all []check.LeftOut) {
	var leading []string
	for _, out := range all {
		if out.LeadsToPeople {
			leading = append(leading, out.Table)
		}
	}
	others := len(all) - len(leading)
	switch {
	case len(leading) > 0 && others > 0:
		p.indented(tablesThatLead(leading)+" Others that are left out: "+strconv.Itoa(others)+".", "")
	case len(leading) > 0:
		p.indented(tablesThatLead(leading), "")
	case others > 0:
		p.line(counted(others, "table") + " left out by decision, none of which leads to people by a foreign key.")
	}
}

func tablesThatLead(names []string) string {
	begin := counted(len(names), "table") + " that lead to people are left out: "
	if len(names) == 1 {
		begin = "1 table that leads to people is left out: "
	}
	return begin + strings.Join(names, ", ") + "."
}
