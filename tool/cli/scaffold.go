package cli

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// Scaffold returns a command that proposes a data map from the schema of a database. The trees of New and Open do not
// contain this command, because an Application already has a data map. A caller can add the command to such a tree.
func Scaffold(open func(ctx context.Context) (ports.CatalogReader, error)) *cobra.Command {
	return (&tree{}).command(scaffolding(open))
}

func scaffolding(open func(context.Context) (ports.CatalogReader, error)) subcommand {
	var s scaffoldCommand
	return subcommand{
		use:   "scaffold",
		short: "propose a data map for a database",
		long: `Reads the live schema of a database and proposes a data map. The proposal has the
table of subjects, the tables whose rows belong to a person, the columns that seem to
hold personal data, each with a category, and the effect of an erasure on each column.
The command reads only the schema, and no rows. The database evaluates its CHECK
constraints on examples of the values that an erasure would write.

An erasure with the proposal changes only rows of the person: rows that refer to her,
and parts of rows that it deletes. Things such as teams and webhooks, and rows that
only a row that stays leads to, are left out, with a question. So are the only row
of a thing, such as the state of a rotation, blocks by a moderator, and links that say
who owns or wrote a thing. With --include, the proposal takes in such a table and its
parts. A question offers only tables that --include accepts. If the proposal states
that two rows are always of the same person (same_person), and they are not, a foreign
key makes an erasure fail, which then changes nothing. No value becomes NULL without a
question, and a cell that is NULL stays NULL. The row of the person stays. It goes if
the table of the people is owned, and its columns have the strategy erase.

The result is a manifest in JSON. It is a first draft that consists of guesses. Its
notes give a reason for each guess. A note that begins with DECIDE needs a decision
by a person. With --review, the command lists these decisions and the tables that
the proposal leaves out. The help topic "data-map" explains the JSON.

With --update, the command adds the tables and columns that are new in the schema to
a data map, and keeps everything else. A table that you have deleted from a proposal
stays out. If the table has new columns, its note keeps your decision, and asks whether
the table may stay out. With --out, the command writes the file as a whole, or not at
all. It replaces an existing file only if --update has read it.

If the database holds several groups of people, such as customers and employees,
each group needs a data map, and each further data map needs a name. The notes
propose a name, which you pass as Config.Name or --name.`,
		example: `habeas scaffold --out datamap.json
habeas scaffold --subject-table members --include projects --review
habeas scaffold --update datamap.json --out datamap.json`,
		exits: exits{fine: "the proposal was printed", failed: "the command cannot propose a data map"},
		needs: nothing,
		flags: func(c *cobra.Command) {
			c.Flags().Var((*Text)(&s.options.SubjectTable), "subject-table", "`table` of subjects; the default is a guess")
			c.Flags().StringArrayVar(&s.options.Include, "include", nil,
				"propose this `table`, too; its rows belong to the person; can be repeated")
			c.Flags().Var((*Text)(&s.update), "update", "add what is new to the data map in this `file`")
			c.Flags().Var((*Text)(&s.out), "out", "write the data map to this `file`, if the command succeeds")
			c.Flags().BoolVar(&s.review, "review", false, "list the decisions instead of the data map")
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
	review  bool
}

// schemaRead is a reader whose catalog was read before.
type schemaRead struct {
	ports.CatalogReader
	catalog datamap.Catalog
}

// Catalog implements ports.CatalogReader.
func (r schemaRead) Catalog(context.Context) (datamap.Catalog, error) { return r.catalog, nil }

func (s scaffoldCommand) run(ctx context.Context, c *call, reader schemaRead) error {
	catalog := reader.catalog
	former, err := s.former()
	if err != nil {
		return err
	}
	var proposal scaffold.Proposal
	if s.update == "" {
		proposal, err = scaffold.Propose(ctx, reader, s.options)
	} else {
		proposal, err = scaffold.Update(ctx, reader, former.known(), s.options)
	}
	if err != nil {
		return err
	}
	dataMap, err := datamap.NewDataMap(proposal.Tables...)
	if err != nil {
		return err
	}
	dataMap = dataMap.WithAccepted(former.dataMap.Accepted()...)
	if s.out != "" {
		if err := (mapFile{s.out, dataMap, former.schemaOf(catalog, proposal)}).write(); err != nil {
			return err
		}
		c.out.line("The data map has " + counted(len(proposal.Decisions), "question") + ". The command decide asks them.")
		return nil
	}
	return c.out.show(proposal, func() {
		if s.review {
			c.out.proposal(proposal)
			return
		}
		_ = manifest.WriteDraft(c.out, dataMap, former.schemaOf(catalog, proposal)) // printer.end reports a failed write
	})
}

// mayWrite returns an error if the file of --out exists, and was not read with --update.
func (s scaffoldCommand) mayWrite() error {
	if _, err := os.Lstat(s.out); err == nil && s.out != s.update {
		return failed("the file of --out exists: name another one, or read it with --update")
	}
	return nil
}

// formerDraft is the manifest that the command updates. It is empty if the command proposes a new one.
type formerDraft struct {
	dataMap datamap.DataMap
	schema  []manifest.SchemaTable
}

// former reads the manifest of the flag --update.
func (s scaffoldCommand) former() (formerDraft, error) {
	if s.update == "" {
		return formerDraft{}, nil
	}
	if s.options.SubjectTable != "" {
		return formerDraft{}, failed("--update takes the table of subjects from the data map: leave out --subject-table")
	}
	text, err := os.ReadFile(s.update)
	if err != nil {
		return formerDraft{}, failed("the file of --update cannot be read: check its name and its permissions")
	}
	dataMap, err := manifest.Read(bytes.NewReader(text))
	if err != nil {
		return formerDraft{}, err
	}
	schema, err := manifest.ReadSchema(bytes.NewReader(text))
	return formerDraft{dataMap, schema}, err
}

func (f formerDraft) known() scaffold.Former {
	former := scaffold.Former{
		DataMap: f.dataMap, Known: map[string][]string{},
		Plan: func(m datamap.DataMap) (datamap.Plan, error) { return erasure.Planner{}.Plan(m, nil) },
	}
	for _, table := range f.schema {
		former.Known[table.Name] = table.Columns
	}
	return former
}

// schemaOf returns the tables of the schema for the manifest. The note of a new table states why it is left out. Other
// notes stay, because a person may have changed them. The decisions about a table follow its note.
func (f formerDraft) schemaOf(catalog datamap.Catalog, proposal scaffold.Proposal) []manifest.SchemaTable {
	notes := map[string]string{}
	for _, left := range proposal.LeftOut {
		i := slices.IndexFunc(f.schema, func(t manifest.SchemaTable) bool { return t.Name == left.Table })
		if i >= 0 {
			notes[left.Table] = f.schema[i].Note
		} else {
			notes[left.Table] = left.Reason
		}
		for _, decision := range proposal.Decisions {
			if decision.Table == left.Table {
				notes[left.Table] = strings.TrimSpace(notes[left.Table] + " " + decision.String())
			}
		}
	}
	var schema []manifest.SchemaTable
	for _, table := range catalog.Tables {
		if table.Kind == datamap.KindView || table.Kind == datamap.KindMatView {
			continue
		}
		known := manifest.SchemaTable{Name: table.Name, Note: notes[table.Name]}
		for _, column := range table.Columns {
			known.Columns = append(known.Columns, column.Name)
		}
		schema = append(schema, known)
	}
	return schema
}

// proposal prints the decisions that a proposal leaves to a person, and the tables that it leaves out.
func (p *printer) proposal(proposal scaffold.Proposal) {
	p.line("The subject's table is " + proposal.Candidates[0].Table + ": " + proposal.Candidates[0].Reason)
	p.line("")
	p.line(counted(len(proposal.Decisions), "decision") + ".")
	for _, decision := range proposal.Decisions {
		p.line(printable(domain.Problem{Table: decision.Table, Column: list(decision.Columns())}.Where()))
		p.indented(decision.Question+" Chosen: "+decision.Chosen, "  ")
	}
	p.line("")
	p.line(counted(len(proposal.LeftOut), "table") + " left out.")
	for _, left := range proposal.LeftOut {
		p.line(printable(left.Table))
		p.indented(left.Reason, "  ")
	}
}
