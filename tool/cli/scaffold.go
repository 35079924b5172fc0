package cli

import (
	"bytes"
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// Scaffold returns a command that proposes a data map from the schema of a database. The trees of New and Open do not
// contain this command, because an Application already has a data map. A caller can add the command to such a tree.
func Scaffold(open func(ctx context.Context) (ports.CatalogReader, error)) *cobra.Command {
	return (&tree{}).command(scaffolding(open), "")
}

func scaffolding(open func(context.Context) (ports.CatalogReader, error)) subcommand {
	var s scaffoldCommand
	return subcommand{
		use:   "scaffold",
		needs: nothing,
		flags: func(c *cobra.Command) {
			c.Flags().Var((*Text)(&s.options.SubjectTable), "subject-table", "`table` of subjects; the default is a guess")
			c.Flags().StringArrayVar(&s.options.Include, "include", nil,
				"propose this `table`, too; its rows belong to the person; can be repeated")
			c.Flags().Var((*Text)(&s.update), "update", "add what is new to the data map in this `file`")
			c.Flags().Var((*Text)(&s.out), "out", "write the data map to this `file`, if the command succeeds")
		},
		run: func(ctx context.Context, c *call) error {
			if err := s.mayWrite(); err != nil {
				return err
			}
			reader, err := open(ctx)
			if err != nil {
				return err
			}
			catalog, err := reader.Catalog(ctx)
			if err != nil {
				return err
			}
			return s.run(ctx, c, schemaRead{reader, catalog})
		},
	}
}

// scaffoldCommand has the flags of the command scaffold.
type scaffoldCommand struct {
	options scaffold.Options
	update  string
	out     string
}

// schemaRead is a reader whose catalog was read before.
type schemaRead struct {
	ports.CatalogReader
	catalog datamap.Catalog
}

// Catalog implements ports.CatalogReader.
func (r schemaRead) Catalog(context.Context) (datamap.Catalog, error) { return r.catalog, nil }

func (s scaffoldCommand) run(ctx context.Context, c *call, reader schemaRead) error {
	former, err := s.former()
	if err != nil {
		return err
	}
	var proposal scaffold.Proposal
	if s.update == "" {
		proposal, err = scaffold.Propose(ctx, reader, s.options)
	} else {
		proposal, err = scaffold.Update(ctx, reader, former, s.options)
	}
	if err != nil {
		return err
	}
	dataMap, err := remade(former, proposal.Tables, proposal.Decisions)
	if err != nil {
		return err
	}
	if s.out != "" {
		if err := (mapFile{s.out, dataMap}).write(); err != nil {
			return err
		}
		c.out.line("The data map has " + counted(len(proposal.Decisions), "question") + ". The command decide asks them.")
		return nil
	}
	return c.out.show(proposal, func() {
		_ = manifest.Write(c.out, dataMap) // printer.end reports a failed write
	})
}

// mayWrite returns an error if the file of --out exists, and was not read with --update.
func (s scaffoldCommand) mayWrite() error {
	if _, err := os.Lstat(s.out); err == nil && s.out != s.update {
		return failed("the file of --out exists: name another one, or read it with --update")
	}
	return nil
}

// former reads the manifest of the flag --update.
func (s scaffoldCommand) former() (datamap.DataMap, error) {
	if s.update == "" {
		return datamap.DataMap{}, nil
	}
	if s.options.SubjectTable != "" {
		return datamap.DataMap{}, failed("--update takes the table of subjects from the data map: leave out --subject-table")
	}
	text, err := os.ReadFile(s.update)
	if err != nil {
		return datamap.DataMap{}, failed("the file of --update cannot be read: check its name and its permissions")
	}
	return manifest.Read(bytes.NewReader(text))
}
