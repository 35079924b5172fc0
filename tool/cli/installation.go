package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain/datamap"
)

func installation() subcommand {
	return subcommand{
		use:   "installation",
		short: "show or renew the identity of the tables",
		long: `The tables of habeas have a random id, the installation, and belong to one data map.
A journal line names the installation, because the id of a person has a meaning
only there. Another data map, another database, and a copy of the database that lives
on have other people under the same ids.`,
		example: `habeas installation show
habeas installation renew --yes`,
		subcommands: []subcommand{installationShow(), installationRenew()},
	}
}

func installationShow() subcommand {
	return subcommand{
		use:   "show",
		short: "show the installation and its data map",
		long: `Shows the id of the installation, the subject table with its key columns, the earlier
ids, and the resolvers of the worker that started last. The command ends with code 2
if the tables belong to another data map.`,
		example: `habeas installation show`,
		exits:   exits{fine: "the data map is the one of the tables", failed: "the tables belong to another data map"},
		run: func(ctx context.Context, c *call) error {
			found, err := c.Installation(ctx)
			if err != nil {
				return err
			}
			return c.installation(found)
		},
	}
}

func installationRenew() subcommand {
	var yes bool
	return subcommand{
		use:   "renew",
		short: "give a clone of the database an id of its own",
		long: `Gives the tables of habeas a new id. Run the command once in a clone of the database
that lives on beside the original, such as the database of a new tenant or of a test
system. Do not run it after a restore from a backup: the restored database keeps its
id, and replay accepts its journal.

The former id becomes an ancestor. Journal lines of the ancestor are accepted up to the
last erasure that the clone has in common with the original.`,
		example: `habeas installation renew --yes`,
		exits:   exits{fine: "the tables have a new id", failed: "nothing was changed"},
		flags: func(c *cobra.Command) {
			c.Flags().BoolVar(&yes, "yes", false, "renew without confirmation")
		},
		run: func(ctx context.Context, c *call) error {
			if err := c.confirm(ctx, yes, "Give the tables of habeas in this database a new id."); err != nil {
				return err
			}
			renewed, err := c.RenewInstallation(ctx)
			if err != nil {
				return err
			}
			return c.installation(renewed)
		},
	}
}

func (c *call) installation(found datamap.Installation) error {
	return c.out.show(found, func() {
		t := table{head: []string{"property", "value"}, rows: [][]string{{"installation", found.ID}}}
		key := "not recorded yet"
		if found.SubjectTable != "" {
			key = found.Key()
		}
		t.rows = append(t.rows, []string{"data map of", key})
		for _, ancestor := range found.Ancestors {
			t.rows = append(t.rows, []string{"ancestor", ancestor.ID + " up to " + strconv.FormatInt(ancestor.Until, 10)})
		}
		if started := found.Started; started != nil {
			for _, resolver := range started.Resolvers {
				t.rows = append(t.rows, []string{"resolver", resolver})
			}
			t.rows = append(t.rows, []string{"hooks", strconv.FormatBool(started.Hooks)})
		}
		c.out.table(t)
	})
}
