package cli

import (
	"context"
	"io"

	"github.com/habeas-data/habeas/domain"
)

func migrate() verb {
	return verb{
		use:   "migrate",
		short: "the tables of habeas",
		long: `habeas has tables of its own beside those of the application: ledgers, the audit
trail, the outbox, marks of erasures. Their names begin with habeas_. The tables
of the application are never altered.`,
		example: `habeas migrate status
habeas migrate up
habeas migrate sql > habeas.sql`,
		parts: []verb{migrateUp(), migrateStatus(), migrateSQL()},
	}
}

func migrateUp() verb {
	return verb{
		use:   "up",
		short: "make the tables, or bring them up to date",
		long: `Makes the tables of habeas, or brings them up to date, in one transaction. Where
everything was applied it only reads. Processes that start at once wait for each
other. The role needs the right to create tables. No event is recorded, so that
it needs no operator.`,
		example: `habeas migrate up`,
		exits:   exits{fine: "the tables are up to date", failed: "nothing was changed"},
		run: func(ctx context.Context, c *call) error {
			if err := c.Migrate(ctx); err != nil {
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

func migrateStatus() verb {
	return verb{
		use:   "status",
		short: "list the migrations and whether they were applied",
		long: `Lists the migrations in their order, each with its state:

  applied      it was applied
  pending      it was not applied: see migrate up
  unrecorded   there are tables, and no record of migrations: the application
               runs them with a tool of its own`,
		example: `habeas migrate status`,
		exits:   exits{fine: "no migration is pending", findings: "a migration is pending"},
		run: func(ctx context.Context, c *call) error {
			migrations, err := c.Migrations(ctx)
			if err != nil {
				return err
			}
			if err := c.migrations(migrations); err != nil {
				return err
			}
			pending := 0
			for _, migration := range migrations {
				if migration.State == domain.MigrationPending {
					pending++
				}
			}
			return findings(pending)
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

// statements is the result of migrate sql.
type statements struct {
	SQL string `json:"sql"`
}

func migrateSQL() verb {
	return verb{
		use:   "sql",
		short: "print the statements of the migrations",
		long: `Prints the statements of all migrations in the dialect of the database, for an
application that runs them with a tool of its own. It opens no connection.`,
		example: `habeas migrate sql > migrations/0042_habeas.sql`,
		exits:   exits{fine: "the statements were printed"},
		run: func(_ context.Context, c *call) error {
			text, err := c.MigrationSQL()
			if err != nil {
				return err
			}
			return c.out.show(statements{text}, func() { _, _ = io.WriteString(c.out, text) })
		},
	}
}
