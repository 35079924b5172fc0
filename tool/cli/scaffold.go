package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// Scaffold returns a command that proposes a data map from the schema of a database. The trees of New and Open do not
// contain this command, because an Application already has a data map. A caller can add the command to such a tree.
func Scaffold(open func(ctx context.Context) (ports.CatalogReader, error)) *cobra.Command {
	return (&tree{}).command(scaffolding(open))
}

func scaffolding(open func(context.Context) (ports.CatalogReader, error)) subcommand {
	var options scaffold.Options
	var review bool
	return subcommand{
		use:   "scaffold",
		short: "propose a data map for a database",
		long: `Reads the live schema of a database and proposes a data map. The proposal has the
table of subjects, the foreign keys that lead to it, the columns that seem to hold
personal data, each with a category, and the effect of an erasure on each column.
The command reads only the schema, and no rows.

The result is a manifest in JSON. It is a first draft that consists of guesses. Its
notes give a reason for each guess. A note that begins with DECIDE needs a decision
by a person. With --review, the command lists these decisions and the tables that
the proposal leaves out. The help topic "data-map" explains the JSON.

If the database holds several groups of people, such as customers and employees,
each group needs a data map, and each further data map needs a name. The notes
propose a name, which you pass as Config.Name or --name.`,
		example: `habeas scaffold > datamap.json
habeas scaffold --subject-table members --review`,
		exits: exits{fine: "the proposal was printed", failed: "the command cannot propose a data map"},
		needs: nothing,
		flags: func(c *cobra.Command) {
			c.Flags().Var((*Text)(&options.SubjectTable), "subject-table", "`table` of subjects; the default is a guess")
			c.Flags().BoolVar(&options.ForeignKeysOnly, "foreign-keys-only", false,
				"use only foreign keys to relate tables, not column names")
			c.Flags().BoolVar(&review, "review", false, "list the decisions instead of the data map")
		},
		run: func(ctx context.Context, c *call) error {
			reader, err := open(ctx)
			if err != nil {
				return err
			}
			catalog, err := reader.Catalog(ctx)
			if err != nil {
				return err
			}
			proposal, err := scaffold.Propose(catalog, options)
			if err != nil {
				return err
			}
			dataMap, err := datamap.NewDataMap(proposal.Tables...)
			if err != nil {
				return err
			}
			return c.out.show(proposal, func() {
				if review {
					c.out.proposal(proposal)
					return
				}
				_ = manifest.Write(c.out, dataMap) // printer.end reports a failed write
			})
		},
	}
}

// proposal prints the decisions that a proposal leaves to a person, and the tables that it leaves out.
func (p *printer) proposal(proposal scaffold.Proposal) {
	p.line("The subject's table is " + proposal.Candidates[0].Table + ": " + proposal.Candidates[0].Reason)
	p.line("")
	p.line(counted(len(proposal.Decisions), "decision") + ".")
	if len(proposal.Decisions) > 0 {
		t := table{head: []string{"place", "question", "chosen"}}
		for _, decision := range proposal.Decisions {
			where := domain.Problem{Table: decision.Table, Column: decision.Column}.Where()
			t.rows = append(t.rows, []string{where, decision.Question, decision.Chosen})
		}
		p.table(t)
	}
	p.line("")
	p.line(counted(len(proposal.LeftOut), "table") + " left out.")
	if len(proposal.LeftOut) > 0 {
		t := table{head: []string{"table", "reason"}}
		for _, left := range proposal.LeftOut {
			t.rows = append(t.rows, []string{left.Table, left.Reason})
		}
		p.table(t)
	}
}
