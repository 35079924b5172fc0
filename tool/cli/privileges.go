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
