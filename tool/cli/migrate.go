package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func migrate() subcommand {
	return subcommand{
		use:   "migrate",
		short: "create and update the tables of habeas",
		long: `Habeas has its own tables in the database of the application: ledgers, the audit
trail, the outbox, and a record of each erasure. Their names begin with habeas_, or
with habeas_<name>_ for a data map with a name.
Migrations never alter the tables of the application.`,
		example: `habeas migrate status
habeas migrate up
habeas migrate sql > habeas.sql`,
		subcommands: []subcommand{migrateUp(), migrateStatus(), migrateSQL()},
	}
}

func migrateUp() subcommand {
	var acceptMap bool
	return subcommand{
		use:   "up",
		short: "apply the pending migrations",
		long: `Creates the tables of habeas, or brings them up to date, in one transaction. Concurrent
calls wait for each other. If a migration is pending, the database role needs the
privilege to create tables. The command also raises sequences of habeas that a switch
to a logical replica left behind. It records no audit event, so it needs no operator.

The tables belong to the data map that used them first. If the subject table or its key
columns differ, the command fails and names both. With --accept-map, the tables belong
to this data map from now on: use it after the subject table was renamed or the type of
its key was changed. For a further data map in the same database, use --name instead.`,
		example: `habeas migrate up
habeas migrate up --accept-map`,
		exits: exits{
			fine: "the tables are up to date", failed: "nothing was changed, or the tables belong to another data map",
		},
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
		short: "list the migrations and their states",
		long: `Lists the migrations in order, each with its state:

  applied      the migration was applied
  pending      the migration was not applied; see migrate up
  unrecorded   the tables exist, but the database has no record of migrations;
               the application applies them with its own tool
  newer        a newer version of habeas has applied the migration, and this
               version can work with the tables`,
		example: `habeas migrate status`,
		exits:   exits{fine: "no migration is pending", findings: "a migration is pending"},
		needs:   onlyTables,
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
		short: "print the SQL statements of the migrations",
		long: `Prints the SQL statements of all migrations in the dialect of the database, for an
application that applies them with its own tool. The command opens no connection.`,
		example: `habeas migrate sql > migrations/0042_habeas.sql`,
		exits:   exits{fine: "the statements were printed"},
		needs:   onlyTables,
		run: func(_ context.Context, c *call) error {
			text, err := c.MigrationSQL()
			if err != nil {
				return err
			}
			return c.out.show(statements{text}, func() { _, _ = io.WriteString(c.out, text) })
		},
	}
}
