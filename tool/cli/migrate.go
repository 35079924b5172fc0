package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check"
)

func migrate() subcommand {
	return subcommand{
		use:         "migrate",
		subcommands: []subcommand{migrateUp(), migrateStatus(), migrateSQL()},
	}
}

func migrateUp() subcommand {
	var acceptMap bool
	return subcommand{
		use: "up",
		flags: func(c *cobra.Command) {
			c.Flags().BoolVar(&acceptMap, "accept-map", false, "record this data map as the one of the tables")
		},
		needs: onlyTables,
		run: func(ctx context.Context, c *call) error {
			if acceptMap {
				if err := c.acceptMap(ctx); err != nil {
					return err
				}
			} else if err := c.Migrate(ctx); err != nil {
				return err
			}
			migrations, err := c.Migrations(ctx)
			if err != nil {
				return err
			}
			return c.migrations(migrations)
		},
	}
}

// acceptMap records the data map and shows the former and the new one.
func (c *call) acceptMap(ctx context.Context) error {
	before, err := c.AcceptMap(ctx)
	if err != nil {
		return err
	}
	former := "no data map"
	if before.SubjectTable != "" {
		former = "the data map of " + before.Key()
	}
	_, err = fmt.Fprintln(c.command.ErrOrStderr(), printable("The tables belonged to "+former+". They belong to the"+
		" data map of "+datamap.InstallationOf(c.DataMap()).Key()+" now."))
	return err
}

func migrateStatus() subcommand {
	return subcommand{
		use:   "status",
		needs: onlyTables,
		run: func(ctx context.Context, c *call) error {
			migrations, err := c.Migrations(ctx)
			if err != nil {
				return err
			}
			if err := c.migrations(migrations); err != nil {
				return err
			}
			if slices.ContainsFunc(migrations, isPending) {
				return &Error{Code: ExitFindings}
			}
			return nil
		},
	}
}

func (c *call) migrations(migrations []domain.Migration) error {
	return c.out.show(migrations, func() {
		t := table{head: []string{"migration", "state"}}
		for _, migration := range migrations {
			t.rows = append(t.rows, []string{migration.Name, string(migration.State)})
		}
		c.out.table(t)
	})
}

// unmigrated is a part of the error text with which a store reports a missing table or column.
const unmigrated = "were the migrations run?"

// withMigrateUp adds the command "migrate up" to the text of err if a table is missing and a migration is pending. If
// no migration is pending, withMigrateUp adds nothing, because the missing table is a table of the application.
func (c *call) withMigrateUp(ctx context.Context, err *Error) error {
	before, after, isMissing := strings.Cut(err.Text, unmigrated)
	if !isMissing || c.Application == nil { // the command scaffold has no application
		return err
	}
	migrations, failure := c.Migrations(ctx)
	if failure == nil && slices.ContainsFunc(migrations, isPending) {
		err.Text = before + unmigrated + ` Run "` + top(c.command).CommandPath() + ` migrate up"` + after
	}
	return err
}

func isPending(m domain.Migration) bool { return m.State == domain.MigrationPending }

// statements is the result of migrate sql.
type statements struct {
	SQL string `json:"sql"`
}

func migrateSQL() subcommand {
	return subcommand{
		use:   "sql",
		needs: onlyTables,
		run: func(_ context.Context, c *call) error {
			text, err := c.MigrationSQL()
			if err != nil {
				return err
			}
			return c.out.show(statements{text}, func() { _, _ = io.WriteString(c.out, text) })
		},
	}
}

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

// grants is the result of privileges.
type grants struct {
	Grants []string `json:"grants"`
}

func privileges() subcommand {
	var role string
	return subcommand{
		use: "privileges",
		flags: func(c *cobra.Command) {
			c.Flags().StringVar(&role, "role", "", "the `name` of the role (required)")
		},
		run: func(_ context.Context, c *call) error {
			if role == "" {
				return usage(c.command, "set --role to the name of the role that the application uses")
			}
			own, err := c.Privileges()
			if err != nil {
				return err
			}
			found := grants{grantsTo(role, slices.Concat(check.Privileges(c.DataMap(), c.Plan()), own))}
			return c.out.show(found, func() {
				for _, grant := range found.Grants {
					c.out.line(grant)
				}
			})
		},
	}
}

// grantsTo returns the statements that grant privileges to a role. A table without a schema is in a schema of the
// search path, for which the role may need USAGE, too.
func grantsTo(role string, all []datamap.Privileges) (statements []string) {
	quote := func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
	var schemas []string
	for _, p := range all {
		schema, table, qualified := strings.Cut(p.Table, ".")
		name := quote(schema)
		if qualified {
			name += "." + quote(table)
		}
		if qualified && !slices.Contains(schemas, schema) {
			schemas = append(schemas, schema)
			statements = append(statements, "GRANT USAGE ON SCHEMA "+quote(schema)+" TO "+quote(role)+";")
		}
		statements = append(statements, "GRANT "+strings.Join(p.Granted, ", ")+" ON "+name+" TO "+quote(role)+";")
	}
	return statements
}
