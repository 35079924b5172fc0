package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/scaffold"
	"github.com/habeas-data/habeas/ports"
)

// Scaffold returns the verb that proposes a data map from the live schema of a database. New does not
// include it: the verb is for a database without a data map, and an Application has one. The caller adds it to the tree
// that New or Open returns.
func Scaffold(open func(ctx context.Context) (ports.CatalogReader, error)) *cobra.Command {
	return (&tree{}).command(scaffolding(open))
}

func scaffolding(open func(context.Context) (ports.CatalogReader, error)) verb {
	var options scaffold.Options
	var review bool
	return verb{
		use:   "scaffold",
		short: "propose a data map for a database",
		long: `Reads the live schema of a database and proposes a data map: the subject's table,
paths by foreign keys, columns that look personal with a category, and what an
erasure does to them. It reads the schema only, never a row.

The result is a manifest in JSON. It is a first draft that is made of guesses.
Its notes give a reason for each guess, and begin with DECIDE where a person has
to decide. With --review these decisions are listed, and the tables that are
left out.`,
		example: `habeas scaffold > datamap.json
habeas scaffold --subject-table members --review`,
		exits: exits{fine: "the proposal was printed", failed: "no data map can be proposed"},
		alone: true,
		flags: func(c *cobra.Command) {
			c.Flags().StringVar(&options.SubjectTable, "subject-table", "", "`table` of the people; it is guessed by default")
			c.Flags().BoolVar(&options.ForeignKeysOnly, "foreign-keys-only", false,
				"relate tables by foreign keys only, not by names of columns")
			c.Flags().BoolVar(&review, "review", false, "list the decisions in place of the data map")
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
			dataMap, err := domain.NewDataMap(proposal.Tables...)
			if err != nil {
				return err
			}
			return c.out.show(proposal, func() {
				if review {
					c.out.proposal(proposal)
					return
				}
				_ = manifest.Write(c.out, dataMap) // the output remembers its error
			})
		},
	}
}

// proposal lists what a person has to decide.
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
