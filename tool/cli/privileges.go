package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check"
)

// grants is the result of privileges.
type grants struct {
	Grants []string `json:"grants"`
}

func privileges() subcommand {
	var role string
	return subcommand{
		use:   "privileges",
		short: "print the GRANTs for the role of the application",
		long: `Prints the GRANT statements for a role of PostgreSQL, with which the application can
grant all rights and fulfill all duties: those on the tables of the data map, and those
on the tables of habeas. The role should own none of them: an owner can switch off the
triggers that protect the ledgers and the audit trail. The commands migrate and replay
need the role that owns the tables of habeas. The command opens no connection.`,
		example: `habeas privileges --role shop | psql`,
		exits:   exits{fine: "the statements were printed"},
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
