package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/adapters/diagram"
	"github.com/habeas-data/habeas/domain"
)

// drawings are the forms of a picture. The first one is the default.
var drawings = []string{"svg", "mermaid", "dot"}

// drawing is the result of map.
type drawing struct {
	Format  string `json:"format"`
	Picture string `json:"picture"`
}

func picture() verb {
	format := drawings[0]
	return verb{
		use:   "map",
		short: "draw the data map",
		long: `Draws the data map: the tables by what an erasure does to their rows, the paths
that lead from them to the subject, and the external systems. The picture has
names of tables, columns and systems, and no row. It needs no database.

The format svg is a document for browsers. Code hosts draw mermaid in Markdown,
and Graphviz draws dot.`,
		example: `habeas map > datamap.svg
habeas map --format dot | dot -Tpdf > datamap.pdf`,
		exits: exits{fine: "the picture was printed"},
		flags: func(c *cobra.Command) {
			c.Flags().Var(choice{&format, drawings}, "format", "`format` of the picture: svg, mermaid or dot")
			_ = c.RegisterFlagCompletionFunc("format", completes(drawings...))
		},
		run: func(_ context.Context, c *call) error {
			draw := map[string]func(domain.DataMap, domain.Plan) string{
				"svg": diagram.SVG, "mermaid": diagram.Mermaid, "dot": diagram.DOT,
			}[format]
			text := draw(c.DataMap(), c.Plan())
			return c.out.show(drawing{format, text}, func() { _, _ = io.WriteString(c.out, text) })
		},
	}
}
