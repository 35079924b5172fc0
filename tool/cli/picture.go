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
	var only []string
	return subcommand{
		use:   "map",
		needs: onlyDataMap,
		flags: func(c *cobra.Command) {
			c.Flags().Var(choice{&format, drawings}, "format", "`format` of the picture: svg, mermaid or dot")
			c.Flags().StringArrayVar(&only, "only", nil, "draw only this `table` and its paths; repeatable")
			_ = c.RegisterFlagCompletionFunc("format", completes(drawings...))
		},
		run: func(_ context.Context, c *call) error {
			for _, name := range only {
				if _, known := c.DataMap().Table(name); !known {
					return usage(c.command, "--only must be a table of the data map")
				}
			}
			draw := map[string]func(datamap.DataMap, datamap.Plan, ...string) string{
				"svg": diagram.SVG, "mermaid": diagram.Mermaid, "dot": diagram.DOT,
			}[format]
			text := draw(c.DataMap(), c.Plan(), only...)
			return c.out.show(drawing{format, text}, func() { _, _ = io.WriteString(c.out, text) })
		},
	}
}
