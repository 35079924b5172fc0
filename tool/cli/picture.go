package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/adapters/diagram"
	"github.com/habeas-data/habeas/domain/datamap"
)

// drawings has the possible formats of a picture. The first format is the default.
var drawings = []string{"svg", "mermaid", "dot"}

// drawing is the result of map.
type drawing struct {
	Format  string `json:"format"`
	Picture string `json:"picture"`
}

func picture() subcommand {
	format := drawings[0]
	return subcommand{
		use:   "map",
		short: "draw the data map",
		long: `Draws the data map. The picture shows the tables, the effect of an erasure on their
rows, the keys that lead from each table to the subject, and the external systems.
It has only names of tables, columns and systems. The command needs no database.

Use the format svg for browsers, mermaid for Markdown on code hosts, and dot for
Graphviz.`,
		example: `habeas map > datamap.svg
habeas map --format dot | dot -Tpdf > datamap.pdf`,
		needs: onlyDataMap,
		exits: exits{fine: "the picture was printed"},
		flags: func(c *cobra.Command) {
			c.Flags().Var(choice{&format, drawings}, "format", "`format` of the picture: svg, mermaid or dot")
			_ = c.RegisterFlagCompletionFunc("format", completes(drawings...))
		},
		run: func(_ context.Context, c *call) error {
			draw := map[string]func(datamap.DataMap, datamap.Plan) string{
				"svg": diagram.SVG, "mermaid": diagram.Mermaid, "dot": diagram.DOT,
			}[format]
			text := draw(c.DataMap(), c.Plan())
			return c.out.show(drawing{format, text}, func() { _, _ = io.WriteString(c.out, text) })
		},
	}
}
