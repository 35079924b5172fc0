package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain/datamap"
)

func installation() subcommand {
	return subcommand{
		use:         "installation",
		subcommands: []subcommand{installationShow(), installationRenew()},
	}
}

func installationShow() subcommand {
	return subcommand{
		use: "show",
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
		use: "renew",
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
